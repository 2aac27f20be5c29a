// What applications register with (RFC 7591 §2, OpenID Connect Registration §2): members of their metadata.
import { ACR } from '../acr.ts';
import { adminGrantTypes, defaultGrantTypes, grantLabels, openGrantTypes } from '../grant-types.ts';
import { flag } from '../kinds.ts';
import { oneLine } from '../text-kinds.ts';
import {
  address,
  clientName,
  count,
  line,
  list,
  oneOf,
  publicKeys,
  someOf,
  someWords,
  targets,
} from './member-kinds.ts';
import { byAgents, byRegistrants, fact } from './row.ts';
import {
  accountScopes,
  adminScopes,
  authMethods,
  legacyResponseTypes,
  openScopes,
  plainResponseModes,
  signedResponseModes,
  signedWith,
  tokenSigningAlgorithms,
} from './vocabulary.ts';

const responseTypes = someOf(['code'], [], {
  items: { type: 'string', enum: ['code', ...legacyResponseTypes] },
});
const legacyWords = Object.fromEntries(legacyResponseTypes.map((type) => [type, type]));

export const metadataRows = {
  client_name: fact(clientName, {
    ...byAgents,
    kinds: 'every',
    stored: 'metadata.client_name',
    label: 'Name',
    hint: 'Users see it when they sign in.',
    description: 'Shown to people when they sign in and consent.',
    form: 'main',
    example: 'Acme',
  }),
  application_type: fact(oneOf(['web', 'native']), {
    ...byAgents,
    stored: 'metadata.application_type',
    label: 'Type',
    description: '`web` or `native`.',
    example: 'web',
  }),
  redirect_uris: fact(targets, {
    ...byAgents,
    stored: 'metadata.redirect_uris',
    label: 'Redirect URIs',
    hint: 'One per line. Where users return after signing in. Must match exactly.',
    description: 'Allowed redirect URIs, compared character by character.',
    form: 'main',
    only: 'sign_in',
    example: ['https://app.example.com/callback'],
  }),
  post_logout_redirect_uris: fact(targets, {
    ...byRegistrants,
    stored: 'metadata.post_logout_redirect_uris',
    label: 'Post-logout redirect URIs',
    hint: 'One per line. Where users may return after signing out.',
    description: 'Where the browser may go after a sign-out.',
    form: 'main',
    only: 'sign_in',
    example: ['https://app.example.com/'],
  }),
  grant_types: fact(
    { ...someOf(openGrantTypes, adminGrantTypes), words: grantLabels },
    {
      ...byAgents,
      stored: 'metadata.grant_types',
      label: 'Grant types',
      description: 'Grant types that the application may use.',
      form: 'main',
      example: defaultGrantTypes,
    },
  ),
  response_types: fact(
    { ...responseTypes, words: legacyWords },
    {
      ...byAgents,
      stored: 'metadata.response_types',
      label: 'Response types beside code',
      form: 'legacy',
      description:
        '`code`; empty for an application without the grant type `authorization_code`. With `profile`: `legacy` also implicit ' +
        'and hybrid ones.',
      example: ['code'],
    },
  ),
  response_modes: fact(someOf(plainResponseModes, signedResponseModes, { minItems: 1 }), {
    ...byAgents,
    stored: 'metadata.response_modes',
    label: 'Response modes',
    description:
      'Response modes that the application may use; absent: all that it can have. Those with `jwt` need ' +
      '`authorization_signed_response_alg`.',
    example: ['query'],
  }),
  scope: fact(someWords(openScopes, [...adminScopes, ...accountScopes]), {
    ...byAgents,
    stored: 'metadata.scope',
    label: 'Scopes',
    hint: 'The scopes that it may request, separated by spaces.',
    description:
      'Space-separated scopes that the application may request. `account` and `account:read` open the account API; only ' +
      'first-party applications (`skip_consent`) may have them, and lose them with that.',
    form: 'main',
    example: 'openid profile email',
  }),
  token_endpoint_auth_method: fact(oneOf(authMethods), {
    ...byAgents,
    stored: 'metadata.token_endpoint_auth_method',
    label: 'Authentication',
    description:
      '`client_secret_basic`, `client_secret_post`, `private_key_jwt`, or `none` for a public client.',
    example: 'client_secret_basic',
  }),
  token_endpoint_auth_signing_alg: fact(
    line({
      matching: {
        pattern: '^(?:(?:RS|PS|ES)(?:256|384|512)|EdDSA|Ed25519)$',
        problem: 'Must be an asymmetric algorithm such as RS256, PS256, ES256 or EdDSA.',
      },
    }),
    {
      ...byRegistrants,
      stored: 'metadata.token_endpoint_auth_signing_alg',
      label: 'Assertion algorithm',
      description: 'Algorithm of `private_key_jwt` assertions.',
      example: 'RS256',
    },
  ),
  jwks: fact(publicKeys, {
    ...byRegistrants,
    stored: 'metadata.jwks',
    label: 'Public keys',
    description: 'Public keys of the application (RFC 7517).',
  }),
  jwks_uri: fact(address('fetched'), {
    ...byRegistrants,
    stored: 'metadata.jwks_uri',
    label: 'Address of the public keys',
    description: 'Address from which the public keys of the application are fetched.',
  }),
  id_token_signed_response_alg: fact(oneOf(tokenSigningAlgorithms, signedWith), {
    ...byAgents,
    stored: 'metadata.id_token_signed_response_alg',
    label: 'ID tokens',
    hint: 'Its logout tokens, too. Access tokens are signed with RS256 whatever this says.',
    description:
      'The one algorithm that its ID tokens and logout tokens are signed with: `RS256`, the default, or `ES256`. Access tokens are ' +
      'signed with `RS256` whatever this says.',
    form: 'signatures',
    example: 'RS256',
  }),
  userinfo_signed_response_alg: fact(
    oneOf(tokenSigningAlgorithms, { '': 'JSON, not signed', ...signedWith }),
    {
      ...byRegistrants,
      stored: 'metadata.userinfo_signed_response_alg',
      label: 'Userinfo answers',
      hint: 'A signed answer proves to others that it came from here.',
      description: '`RS256` or `ES256`: userinfo answers a JWT signed with it; absent: plain JSON.',
      form: 'signatures',
      example: 'RS256',
    },
  ),
  subject_type: fact(oneOf(['public']), {
    ...byAgents,
    stored: 'metadata.subject_type',
    label: 'Subject type',
    description: '`public`.',
    example: 'public',
  }),
  default_max_age: fact(count, {
    ...byAgents,
    stored: 'metadata.default_max_age',
    label: 'Default max_age',
    description: 'Seconds after which users must sign in again.',
  }),
  require_auth_time: fact(flag, {
    ...byAgents,
    stored: 'metadata.require_auth_time',
    label: 'ID tokens with auth_time',
    description: 'Whether ID tokens always carry `auth_time`.',
  }),
  default_acr_values: fact(list({ schema: { items: { type: 'string', enum: Object.values(ACR) } } }), {
    ...byRegistrants,
    stored: 'metadata.default_acr_values',
    label: 'Default acr_values',
    description: 'Authentication context classes requested by default.',
    example: [],
  }),
  dpop_bound_access_tokens: fact(flag, {
    ...byRegistrants,
    stored: 'metadata.dpop_bound_access_tokens',
    label: 'Tokens bound to a key',
    hint: 'It gets access tokens only with a proof of its own key (DPoP), and nobody without that key can use them. Its library must support it.',
    description: 'Only access tokens that are bound to a key of the application are issued (DPoP, RFC 9449).',
    form: 'pages',
  }),
  require_pushed_authorization_requests: fact(flag, {
    ...byAgents,
    stored: 'metadata.require_pushed_authorization_requests',
    label: 'Pushed authorization requests only',
    description: 'Only pushed authorization requests (RFC 9126) are accepted.',
  }),
  backchannel_logout_uri: fact(address('fetched'), {
    ...byRegistrants,
    stored: 'metadata.backchannel_logout_uri',
    label: 'Back-channel sign-out',
    hint: 'Notified when a session ends.',
    description: 'Receives a logout token when a session of the application ends.',
    form: 'pages',
    example: 'https://app.example.com/signed-out',
  }),
  backchannel_logout_session_required: fact(flag, {
    ...byRegistrants,
    stored: 'metadata.backchannel_logout_session_required',
    label: 'Logout tokens with sid',
    description: 'Whether that logout token must contain a `sid`.',
  }),
  initiate_login_uri: fact(address('page'), {
    ...byRegistrants,
    kinds: 'every',
    stored: 'metadata.initiate_login_uri',
    label: 'Start of a sign-in',
    description: 'Where a third party may start a sign-in.',
    example: 'https://app.example.com/sign-in',
  }),
  client_uri: fact(address('page'), {
    ...byRegistrants,
    kinds: 'every',
    stored: 'metadata.client_uri',
    label: 'Home page',
    description: 'Home page.',
    form: 'pages',
    example: 'https://app.example.com/',
  }),
  logo_uri: fact(address('page'), {
    ...byRegistrants,
    kinds: 'every',
    stored: 'metadata.logo_uri',
    label: 'Address of the logo',
    description:
      'Address of a logo. Pages load no picture from elsewhere, so they do not show it: upload the logo instead.',
    example: 'https://app.example.com/logo.png',
  }),
  policy_uri: fact(address('page'), {
    ...byRegistrants,
    kinds: 'every',
    stored: 'metadata.policy_uri',
    label: 'Privacy policy',
    description: 'Privacy policy.',
    form: 'pages',
    example: 'https://app.example.com/privacy',
  }),
  tos_uri: fact(address('page'), {
    ...byRegistrants,
    kinds: 'every',
    stored: 'metadata.tos_uri',
    label: 'Terms of service',
    description: 'Terms of service.',
    form: 'pages',
    example: 'https://app.example.com/terms',
  }),
  contacts: fact(list({ schema: { items: { type: 'string', format: 'email', maxLength: 254 } } }), {
    ...byRegistrants,
    kinds: 'every',
    stored: 'metadata.contacts',
    label: 'Contacts',
    description: 'E-mail addresses of the people responsible.',
    example: ['admin@example.com'],
  }),
  software_id: fact(line({ schema: { minLength: 1, pattern: oneLine } }), {
    ...byAgents,
    stored: 'metadata.software_id',
    label: 'Software',
    description: 'Identifies the software across all its installations.',
    example: 'acme-web',
  }),
  software_version: fact(line({ schema: { minLength: 1, pattern: oneLine } }), {
    ...byAgents,
    stored: 'metadata.software_version',
    label: 'Software version',
    description: 'Version of that software.',
    example: '2.1',
  }),
} as const;
