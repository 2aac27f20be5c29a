// What applications and users may do, and the form of requests.
import type { RefusalRow } from './refusal-row.ts';

export const ruleCauses: readonly RefusalRow[] = [
  {
    cause: 'grant_type_not_allowed',
    details: ['the client may not use this grant type'],
    reason:
      /^(?:this application may not use (.+)|requested grant type is not allowed for this client|.+ is not allowed for this client)$/,
    words: 'Grant type not allowed. $1',
    remedy: 'Tick it under “Grant types”, or let the application use another one.',
  },
  {
    cause: 'grant_type_unknown',
    errors: ['unsupported_grant_type'],
    words: 'The grant type is unknown or switched off.',
    remedy: 'Use one of grant_types_supported of the discovery document.',
  },
  {
    cause: 'response_type',
    reason: /response_(?:type|mode)/,
    words: 'The response type or response mode is not allowed.',
    remedy: 'Use response_type=code, with response_mode query or form_post.',
  },
  {
    cause: 'response_type',
    errors: ['unsupported_response_type', 'unsupported_response_mode'],
    words: 'The response type or response mode is not allowed.',
    remedy: 'Use response_type=code, with response_mode query or form_post.',
  },
  {
    cause: 'parameter_missing',
    reason: /^missing required parameters? (.+)$/,
    words: 'Parameter missing: $1',
    remedy: 'Send it. A form must have the content type application/x-www-form-urlencoded.',
  },
  {
    cause: 'parameter_repeated',
    reason: /must not be provided twice$|was sent more than once/,
    words: 'A parameter was sent twice.',
    remedy: 'Send each parameter once.',
  },
  {
    cause: 'not_a_form',
    reason: /content-type bodies are supported|must be a form|unsupported content type/,
    words: 'The request is not a form.',
    remedy: 'Send the parameters with the content type application/x-www-form-urlencoded, not as JSON.',
  },
  {
    cause: 'prompt',
    reason: /prompt (?:value|none)/,
    words: 'prompt has a value that does not exist, or none beside another.',
    remedy: 'Send prompt=none alone, or login, consent or select_account; or leave it out.',
  },
  {
    cause: 'max_age',
    reason: /^invalid max_age/,
    words: 'max_age is not a number of seconds.',
    remedy: 'Send a whole number from 0 on, or leave it out.',
  },
  {
    cause: 'claims',
    reason: /claims(?:\.| parameter| should)/,
    words: 'The claims parameter is not valid.',
    remedy:
      'Send a JSON object with the members id_token and userinfo (OpenID Connect Core §5.5), or leave it out.',
  },
  {
    cause: 'id_token_hint',
    reason: /^could not validate id_token_hint/,
    words: 'id_token_hint is not an ID token of this server.',
    remedy: 'Send the id_token of the last token answer unchanged, or leave it out.',
  },
  {
    cause: 'parameter_too_long',
    reason: /^The .+ is longer than/,
    words: 'A parameter is too long.',
    remedy: 'Keep what is large in the session of the application, and send only a key to it in state.',
  },
  {
    cause: 'request_object',
    errors: ['request_not_supported', 'request_uri_not_supported', 'registration_not_supported'],
    words: 'Request objects by value or by a foreign address are not supported.',
    remedy: 'Send plain parameters, or push the request first (PAR) and use the request_uri of the answer.',
  },
  {
    cause: 'request_uri',
    reason: /request_uri/,
    words: 'The pushed request is unknown, used or expired.',
    remedy: 'Push the request anew for every sign-in, and open its address at once.',
  },
  {
    cause: 'origin',
    reason: /^origin .+ not allowed/,
    words: 'A script on another site called this endpoint.',
    remedy: 'Add the origin of the site under “Web origins”.',
  },
  {
    cause: 'hint_not_current',
    reason: /^The id_token_hint is not of a current session/,
    words: 'The user was not sent back after the sign-out: id_token_hint is of no current session.',
    remedy: 'Nothing, if the user was signed out before. Else send the ID token of the last sign-in.',
  },
  {
    cause: 'hint_invalid',
    reason: /^The id_token_hint is not a valid ID token/,
    words:
      'The user was not sent back after the sign-out: id_token_hint is not an ID token of this application.',
    remedy: 'Send the id_token of the token answer unchanged, not the access token.',
  },
  {
    cause: 'logout_authentication',
    reason: /^A sign-out by id_token_hint without a browser/,
    words: 'A server asked to sign a user out without authenticating.',
    remedy: 'Send the secret of the application, or turn that rule off under “Sign-in rules”.',
  },
  {
    cause: 'prompt_none',
    errors: ['login_required', 'interaction_required', 'consent_required', 'account_selection_required'],
    words: 'A silent sign-in (prompt=none) would have needed the user.',
    remedy: 'Nothing, if the application then starts a sign-in with a page.',
  },
  {
    cause: 'authentication_requirements',
    errors: ['unmet_authentication_requirements'],
    words: 'The sign-in does not reach the required authentication.',
    remedy: 'Let the user set up a second factor, or lower “Sign-ins must reach”.',
  },
  {
    cause: 'authentication_requirements',
    details: ['acr is below the required one', 'acr is below the one that the API requires'],
    reason: /^this account signs in with a second factor/,
    words: 'The sign-in does not reach the required authentication.',
    remedy: 'Let the user sign in with a page, where a second factor can be asked for.',
  },
  {
    cause: 'user_not_allowed',
    details: ['this account may not sign in to this application'],
    reason: /^this account may not/,
    words: 'The user may not sign in to this application.',
    remedy: 'Add the user to one of its groups, under “Who can sign in”.',
  },
  {
    cause: 'password_wrong',
    details: ['wrong username or password'],
    words: 'Username or password wrong (password grant).',
    remedy: 'Check what the user typed. Too many attempts lock password sign-in for a while.',
  },
  {
    cause: 'user_denied',
    errors: ['access_denied'],
    words: 'The user cancelled, or the sign-in was not allowed.',
    remedy: 'Nothing, if the user did not want to sign in.',
  },
  {
    cause: 'rate_limited',
    errors: ['temporarily_unavailable'],
    words: 'Too many requests.',
    remedy: 'Let the application wait as long as Retry-After says before it tries again.',
  },
  {
    cause: 'registration_token',
    errors: ['invalid_token'],
    words: 'The bearer token is not valid here.',
    remedy: 'Send the token that belongs to this endpoint, unchanged.',
  },
];
