// A description of every standard claim (OIDC Core §2 and §5.1, RFC 9068 §2.2, RFC 7662 §2.2) and every standard error
// (RFC 6749 §4.1.2.1 and §5.2, OIDC Core §3.1.2.6), for developers who connect an application.
import type { UserFacts } from '../../model/users/facts.ts';
import { userRows } from '../../model/users/rows.ts';

const claims: Readonly<Record<string, string>> = {
  iss: 'Who issued it. Must be the issuer that the application is configured with.',
  sub: userRows.id.claim.meaning,
  aud: 'Whom it is for: an ID token for this application, an access token for an API, or for this server.',
  azp: 'The application that it was issued to.',
  exp: 'Not to be accepted from then on.',
  iat: 'When it was issued.',
  nbf: 'Not to be accepted before.',
  jti: 'The id of this token; by it, it can be revoked.',
  auth_time: 'When the person proved who they are; compare it with the max_age that was asked for.',
  nonce: 'What the application sent along, unchanged: ties the token to this very request.',
  acr: 'What the authentication was worth.',
  amr: 'How they proved it: pwd password, otp code, hwk or swk passkey, mfa two factors (RFC 8176).',
  at_hash: 'Ties the ID token to the access token beside it.',
  c_hash: 'Ties the ID token to the code.',
  sid: 'The session at this provider; back-channel sign-out names it.',
  client_id: 'The application that it was issued to.',
  scope: 'What was granted. It can be less than what was asked for.',
  token_type: 'How it is presented.',
  active: 'Whether it can be used now.',
  username: 'The account’s name for signing in.',
  ...Object.fromEntries(
    Object.values<UserFacts>(userRows).flatMap(({ claim }) =>
      claim === null ? [] : [[claim.name, claim.meaning] as const],
    ),
  ),
  role: 'Role at this provider.',
  cnf: 'The key that it is bound to.',
  alg: 'How it is signed.',
  kid: 'Which of the public keys (JWKS) proves the signature.',
  typ: 'What kind of token it is.',
};

const errors: Readonly<Record<string, string>> = {
  access_denied: 'The person cancelled or did not consent, or is in none of the groups that may use it.',
  login_required: 'prompt=none was requested, but the user would have to sign in.',
  consent_required: 'prompt=none was requested, but the user would have to consent.',
  interaction_required: 'prompt=none was requested, but the user would have to interact.',
  account_selection_required: 'prompt=none was requested, but the user would have to choose an account.',
  invalid_scope: 'A scope was asked for that the application is not allowed.',
  invalid_request: 'A parameter is missing, wrong, or not allowed for this application.',
  invalid_client: 'The application is unknown or deactivated, or did not prove who it is.',
  invalid_grant: 'The code is over, used, or was not meant for this application.',
  unauthorized_client: 'The application is not registered for this kind of request.',
  unsupported_response_type: 'The application is not registered for this response type.',
  invalid_target: 'A resource was asked for that is not known.',
  server_error: 'Something failed here; the server’s log has the details.',
  temporarily_unavailable: 'The server cannot answer just now.',
};

const known = (words: Readonly<Record<string, string>>, name: string): string =>
  Object.hasOwn(words, name) ? (words[name] ?? '') : '';

/** @returns '' for a claim that is not standard */
export const claimMeaning = (name: string): string => known(claims, name);

/** @returns '' for an error that is not standard */
export const errorMeaning = (name: string): string => known(errors, name);

/** Sort key: issuer, audience and times first, then claims about the user; unknown claims last. */
export const claimOrder = (name: string): number => {
  const place = Object.keys(claims).indexOf(name);
  return place < 0 ? Number.MAX_SAFE_INTEGER : place;
};
