// Addresses and client authentication.
import type { RefusalRow } from './refusal-row.ts';

export const redirectCauses: readonly RefusalRow[] = [
  {
    cause: 'redirect_uri_unregistered',
    errors: ['invalid_redirect_uri'],
    words: 'redirect_uri is not registered.',
    remedy: 'Add exactly this address under “Redirect URIs”, or let the application send a registered one.',
  },
  {
    cause: 'redirect_uri_mismatch',
    details: ['authorization code redirect_uri mismatch'],
    words: 'The token request named another redirect_uri than the sign-in.',
    remedy: 'Send the same redirect_uri in both requests.',
  },
  {
    cause: 'redirect_uri_removed',
    details: ['the redirect_uri is no longer registered'],
    words: 'redirect_uri was removed during the sign-in.',
    remedy: 'Add the address under “Redirect URIs” again, or sign in with a registered one.',
  },
  {
    cause: 'post_logout_redirect_uri_unregistered',
    reason: /^The post_logout_redirect_uri is not registered/,
    words: 'post_logout_redirect_uri is not registered.',
    remedy: 'Add exactly this address under “Post-logout redirect URIs”.',
  },
];

export const authenticationCauses: readonly RefusalRow[] = [
  {
    cause: 'secret_wrong',
    details: ['invalid secret provided'],
    words: 'The client secret is wrong.',
    remedy: 'Copy the current secret into the application. If it is lost, rotate it here.',
  },
  {
    cause: 'secret_expired',
    reason: /client secret (?:is|used for the client_assertion is) expired/,
    words: 'The client secret has expired.',
    remedy: 'Rotate the secret here and copy the new one into the application.',
  },
  {
    cause: 'authentication_method',
    details: [
      'the provided authentication mechanism does not match the registered client authentication method',
      'the client is registered for another authentication method',
    ],
    words: 'The application authenticated in another way than it is registered for.',
    remedy:
      'Configure the method shown under “Authentication”, or change token_endpoint_auth_method by the API.',
  },
  {
    cause: 'authentication_missing',
    reason: /^(?:no client authentication mechanism provided|.*client authentication is required)$/,
    words: 'The request has no client authentication.',
    remedy: 'Send the client ID and, for a confidential application, its secret.',
  },
  {
    cause: 'two_credentials',
    reason: /^client authentication must only be provided using one mechanism$/,
    words: 'The application authenticated in two ways in one request.',
    remedy: 'Send the secret either in the Authorization header or in the form.',
  },
  {
    cause: 'basic_header',
    reason:
      /^(?:invalid authorization header value format|client_id and client_secret in the authorization header)/,
    words: 'The Authorization header cannot be read.',
    remedy:
      'Encode the client ID and the secret separately as a form does, join them with a colon, then use Base64.',
  },
  {
    cause: 'secret_empty',
    reason: /^client_secret must be provided in the Authorization header$/,
    words: 'The client secret is empty.',
    remedy: 'Set the secret in the configuration of the application.',
  },
  {
    cause: 'client_ids_differ',
    reason: /^(?:client_id mismatch|The client_id is not the one)/,
    words: 'The request names two different client IDs.',
    remedy: 'Use the same client ID everywhere in the configuration of the application.',
  },
  {
    cause: 'public_client',
    details: ['a public client cannot use this endpoint'],
    words: 'A public application cannot use this endpoint.',
    remedy: 'Call it from a server, with a confidential application.',
  },
  {
    cause: 'client_inactive',
    details: ['client not found'],
    reason: /^No application has this client_id\.$/,
    words: 'The application cannot be used.',
    remedy: 'Reactivate it if it is deactivated.',
  },
  {
    cause: 'assertion_audience',
    details: [
      'aud must be the issuer or the token endpoint, and nothing else',
      'aud must be the issuer alone, as a string',
      'audience (aud) must equal the issuer identifier url',
      'audience (aud) must equal the endpoint url, issuer identifier or token endpoint url',
      'list of audience (aud) must include the endpoint url, issuer identifier or token endpoint url',
      'aud (JWT audience) must be provided in the client_assertion JWT',
      'invalid aud value',
    ],
    words: 'The client assertion names the wrong audience.',
    remedy: 'Set aud to the issuer or to the token endpoint, and to nothing else.',
  },
  {
    cause: 'assertion_reused',
    details: ['client assertion tokens must only be used once'],
    words: 'A client assertion was used twice.',
    remedy: 'Sign a new assertion, with a new jti, for every request.',
  },
  {
    cause: 'assertion_key',
    details: [
      'no applicable key found in the JSON Web Key Set',
      'signature verification failed',
      'alg mismatch',
    ],
    words: 'The client assertion is not signed with a registered key.',
    remedy: 'Compare the key and the algorithm of the application with its jwks or jwks_uri.',
  },
  {
    cause: 'assertion_invalid',
    details: [
      'expiration must be specified in the client_assertion JWT',
      'unique jti (JWT ID) must be provided in the client_assertion JWT',
      'iss (JWT issuer) must be provided in the client_assertion JWT',
      'iss (JWT issuer) must be the client_id',
      'sub (JWT subject) must be provided in the client_assertion JWT',
      'the assertion expires too late',
      'jwt expired',
      'jwt not active yet',
      'jwt issued in the future',
      'invalid exp value',
      'invalid nbf value',
      'invalid iat value',
      'invalid jti value',
      'invalid iss value',
      'invalid sub value',
      'payload is not of JWT type (JSON serialized object)',
    ],
    reason: /assertion/,
    words: 'The client assertion is not valid.',
    remedy: 'It needs iss and sub (the client ID), aud, a new jti, and an exp at most 5 minutes ahead.',
  },
];
