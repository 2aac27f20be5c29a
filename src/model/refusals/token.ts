// Codes, tokens and scopes.
import type { RefusalRow } from './refusal-row.ts';

export const codeCauses: readonly RefusalRow[] = [
  {
    cause: 'code_used_twice',
    details: ['authorization code already consumed', 'AuthorizationCode was used before'],
    words: 'The code was used twice. Tokens issued for it are revoked.',
    remedy: 'Redeem each code once: look for a repeated request or a reloaded callback page.',
  },
  {
    cause: 'code_unknown',
    details: ['authorization code not found'],
    words: 'The code is unknown.',
    remedy: 'Redeem the code once, unchanged, within 60 seconds, at the server that issued it.',
  },
  {
    cause: 'code_expired',
    details: ['authorization code is expired'],
    words: 'The code has expired.',
    remedy: 'Redeem the code within 60 seconds. Check the clocks if it is sooner.',
  },
  {
    cause: 'verifier_missing',
    details: ['code_verifier missing', 'code_verifier must be provided'],
    words: 'PKCE verifier missing.',
    remedy: 'Send code_verifier with the code; it must be kept from the start of the sign-in.',
  },
  {
    cause: 'verifier_unexpected',
    details: ['code_verifier without code_challenge'],
    words: 'A PKCE verifier was sent for a sign-in without a challenge.',
    remedy: 'Send code_challenge and code_challenge_method=S256 when the sign-in starts.',
  },
  {
    cause: 'verifier_wrong',
    details: [
      'code_verifier is plain',
      'code_verifier is malformed',
      'code_verifier does not match code_challenge',
    ],
    reason: /^code_verifier/,
    words: 'The PKCE verifier does not match the challenge.',
    remedy: 'Keep one verifier per sign-in, 43 to 128 characters, and hash it with S256.',
  },
  {
    cause: 'pkce_required',
    reason: /requires PKCE/,
    words: 'PKCE is required and the sign-in has no challenge.',
    remedy: 'Turn on PKCE (S256) in the application.',
  },
  {
    cause: 'challenge_invalid',
    reason: /code_challenge/,
    words: 'The PKCE challenge is not valid.',
    remedy: 'Send code_challenge together with code_challenge_method=S256.',
  },
];

export const tokenCauses: readonly RefusalRow[] = [
  {
    cause: 'dpop_missing',
    details: ['DPoP proof JWT not provided', 'missing DPoP proof JWT'],
    words: 'A DPoP proof was required and none was sent.',
    remedy: 'Turn on DPoP in the application, or turn off “Tokens bound to a key” here.',
  },
  {
    cause: 'dpop_replayed',
    details: ['DPoP proof JWT Replay detected'],
    words: 'A DPoP proof was used twice.',
    remedy: 'Make a new proof, with its own jti, for every request, repeated ones too.',
  },
  {
    cause: 'dpop_other_key',
    details: ['DPoP proof key thumbprint does not match dpop_jkt', 'failed jkt verification'],
    words: 'The DPoP proof is by another key than the one the sign-in or token is bound to.',
    remedy: 'Keep one key per sign-in, and use it for the code, the refresh token and every request.',
  },
  {
    cause: 'dpop_invalid',
    errors: ['invalid_dpop_proof'],
    words: 'The DPoP proof is not valid.',
    remedy: 'Check htm, htu (the public address, without query), iat (the clock), ath and the algorithm.',
  },
  {
    cause: 'refresh_token_reused',
    details: ['refresh token already used', 'refresh token already consumed', 'RefreshToken was used before'],
    reason: /^The refresh_token was used before/,
    words: 'The refresh token was used twice. All tokens of that sign-in are revoked.',
    remedy: 'Store the new refresh token of each answer, and refresh from one place at a time.',
  },
  {
    cause: 'refresh_token_expired',
    details: ['refresh token is expired'],
    words: 'The refresh token has expired.',
    remedy: 'Let the user sign in again. The lifetimes are in the settings.',
  },
  {
    cause: 'refresh_token_unknown',
    details: ['refresh token not found'],
    reason: /^The refresh_token is not a valid one/,
    words: 'The refresh token is unknown or was revoked.',
    remedy: 'Let the user sign in again: the session was ended, or the token is of another server.',
  },
  {
    cause: 'device_code',
    details: [
      'device code not found',
      'device code is expired',
      'device code already consumed',
      'DeviceCode was used before',
      'device code invalid (referenced account not found)',
    ],
    words: 'The device code is unknown, used or expired.',
    remedy: 'Start the sign-in on the device again, and stop polling after the first answer.',
  },
  {
    cause: 'device_code_expired',
    errors: ['expired_token'],
    words: 'The device code has expired.',
    remedy: 'Start the sign-in on the device again.',
  },
  {
    cause: 'grant_ended',
    details: [
      'grant not found',
      'grant is expired',
      'authorization code invalid (referenced account not found)',
      'refresh token invalid (referenced account not found)',
      'the API does not exist any more',
    ],
    words: 'The access of this user has ended.',
    remedy:
      'Let the user sign in again: consent was withdrawn, the session was ended, or the user was deleted.',
  },
  {
    cause: 'other_client',
    details: ['client mismatch', 'the codes of this client are redeemed by this server alone'],
    words: 'The code or token was issued to another application.',
    remedy: 'Use the same client ID for the sign-in and for the token request.',
  },
  {
    cause: 'access_token',
    errors: ['invalid_token'],
    details: [
      'access token not found',
      'access token is not sender-constrained but proof of possession was provided',
      'no scope of this token is left',
      'accountId mismatch',
      'clientId mismatch',
      'associated account not found',
      'associated client not found',
      'grant type withdrawn',
      'token audience prevents accessing the userinfo endpoint',
      'not for userinfo',
    ],
    reason: /^(?:access token|invalid token provided)/,
    words: 'The access token is expired, revoked or not of this server.',
    remedy: 'Refresh the token, or let the user sign in again.',
  },
  {
    cause: 'scope_account_missing',
    errors: ['insufficient_scope'],
    reason: /^the access token has no scope account$/,
    words: 'The access token has no scope account.',
    remedy:
      'Choose “Access to users’ accounts” below, and let the application request account when users sign in to it in a browser. ' +
      'Device codes and passwords never give it.',
  },
  {
    cause: 'scope_openid_missing',
    errors: ['insufficient_scope'],
    reason: /openid/,
    words: 'The access token has no scope openid.',
    remedy: 'Ask for openid at the sign-in.',
  },
];

export const scopeCauses: readonly RefusalRow[] = [
  {
    cause: 'scope_not_allowed',
    reason: /^this application may have none of these scopes: (.+)$/,
    words: 'Scope not allowed: $1',
    remedy: 'Add it under “Scopes”, or let the application ask for another one.',
  },
  {
    cause: 'scope_not_granted',
    reason: /^none of these scopes was granted: (.+)$/,
    words: 'Scope not granted at the sign-in: $1',
    remedy: 'Refresh without a scope, or with scopes of the first token answer.',
  },
  {
    cause: 'scope_invalid',
    errors: ['invalid_scope'],
    words: 'The scope is not valid.',
    remedy: 'Separate scopes by single spaces, and compare them with “Scopes”.',
  },
  {
    cause: 'target_invalid',
    errors: ['invalid_target'],
    words: 'resource or audience names no API that the application may use.',
    remedy: 'Leave it out, or send the exact identifier of a registered API.',
  },
];
