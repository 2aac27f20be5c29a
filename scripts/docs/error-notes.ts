// The cause and the remedy of every error code, for docs/errors.md. The type demands a note for each code of the
// catalogue (src/errors.ts), so a new code without one does not compile.
import type { ErrorCode } from '../../src/errors.ts';
import { stoppedChangeNotes } from './stopped-change-notes.ts';

interface Note {
  /** What the caller or the state of the installation did to cause it. */
  readonly cause: string;
  /** What the caller, the user or the operator does about it. */
  readonly remedy: string;
}

const versionConflict =
  'Read it again, apply the change to the new version, and send its `ETag` in `If-Match`.';
const wrongId = 'Take the id from the list of the same resource; it may have been deleted since.';

export const errorNotes: Readonly<Record<ErrorCode, Note>> = {
  'request.not_found': {
    cause: 'No page or route has this path.',
    remedy:
      'Compare the path with docs/api.md or `/admin/api/openapi.json`. Paths are exact: no trailing slash.',
  },
  'request.method_not_allowed': {
    cause: 'The path exists and does not take this method.',
    remedy: 'Use a method of the `Allow` header.',
  },
  'request.too_large': {
    cause: 'The body is over 100 kB, or over the limit of the route.',
    remedy: 'Send less. Import users line by line with `POST /admin/api/users/import`.',
  },
  'request.unsupported_media_type': {
    cause: 'The `Content-Type` is not the one that the route reads.',
    remedy:
      'Send `application/json` to the APIs, `application/x-www-form-urlencoded` to OAuth endpoints and pages.',
  },
  'request.malformed': {
    cause: 'The body is not valid JSON or not a valid form, or a header cannot be parsed.',
    remedy: 'Fix the syntax of the request. Repeating it unchanged fails again.',
  },
  'request.invalid': {
    cause: 'A field is unknown, missing, of the wrong type or out of bounds.',
    remedy: 'Read `fields` in the answer: it names each field and what it must be.',
  },
  'request.key_reused': {
    cause: 'The `Idempotency-Key` came with a different request before.',
    remedy: 'Use a new key for every new request; repeat a key with the same body only.',
  },
  'request.in_progress': {
    cause: 'A request with this `Idempotency-Key` still runs, or its process ended before it answered.',
    remedy: 'Wait for `Retry-After`. If it stays, read whether the resource exists, then use another key.',
  },
  'request.changed': { cause: '`If-Match` names an older version of the resource.', remedy: versionConflict },
  'request.csrf': {
    cause: 'The form was rendered for another browser or has expired, or the request came from another site.',
    remedy: 'Load the page again and submit it there. Behind a proxy, check `BASE_URL`.',
  },
  'request.cross_site': {
    cause:
      'A page of another site sent the request without the person (a frame, a picture, a script, a form), as `Sec-Fetch-Site` or `Origin` says.',
    remedy:
      'Lead the browser here by a link or a redirect; scripts use the endpoints with CORS (docs/decisions/0022-cross-origin.md), with `mode: cors`.',
  },
  'request.cookies_off': {
    cause: 'A form arrived without the cookie that the page had set.',
    remedy: 'Allow cookies for this site. With `BASE_URL` on https, open the https address.',
  },
  'request.rate_limited': {
    cause: 'A limit named `limit_…` is reached for this address, account or client.',
    remedy:
      'Wait for `Retry-After`. Operators: check `TRUST_PROXY`, then the setting (docs/configuration.md).',
  },
  'auth.required': {
    cause: 'The route takes a bearer token and none was sent.',
    remedy: 'Send `Authorization: Bearer …`; which tokens count is in docs/api.md.',
  },
  'auth.invalid_token': {
    cause: 'The token is unknown, expired or revoked, or its account is inactive.',
    remedy: 'Get a new token. Do not retry with the same one.',
  },
  'auth.use_dpop_nonce': {
    cause: 'The DPoP proof has a nonce that this server did not give, or gave minutes ago.',
    remedy:
      'Repeat the request with a new proof that has the nonce of the header `DPoP-Nonce`. Libraries do so by themselves.',
  },
  'auth.insufficient_scope': {
    cause:
      'The token is valid and does not authorize this request: no `admin` scope, at the account API no `account` scope, or read-only.',
    remedy:
      'Use a token with the scope `admin` (or `admin:read` to read), of a user who may have it now; at the account API, let a first-party ' +
      'application ask for `account` (or `account:read`) when the user signs in (docs/api.md).',
  },
  'auth.stale': {
    cause: 'A sensitive act needs an authentication of the last five minutes in the account’s highest class.',
    remedy:
      'Sign in again with `prompt=login`, and use the token of that authorization: one of a silent authorization is never fresh. Programs use ' +
      'an API key or client credentials.',
  },
  'signin.failed': {
    cause: 'Unknown user, wrong password, closed password sign-in or inactive account. They look the same.',
    remedy:
      'Check both, reset the password, or use a passkey. Administrators read the reason in the audit log.',
  },
  'signin.no_factor': {
    cause: 'A second factor is required and this account can neither give nor enrol one here.',
    remedy:
      'An administrator resets the second factor, or allows a method (`mfa_mode`, `allow_email_codes`).',
  },
  'signin.expired': {
    cause:
      'The sign-in was completed, took longer than `interaction_seconds`, or belongs to another browser.',
    remedy: 'Start again from the application, or at `/account`.',
  },
  'passkey.refused': {
    cause: 'The WebAuthn response failed verification: challenge, origin, signature or counter.',
    remedy: 'Try again. If it stays, compare the host in `BASE_URL` with the one in the address bar.',
  },
  'passkey.unknown': {
    cause: 'The passkey was removed here and still exists in the password manager.',
    remedy: 'Sign in another way, delete the passkey in the password manager, register a new one.',
  },
  'passkey.unverified': {
    cause: 'The passkey proved presence only, two factors are required, and the account has no other factor.',
    remedy: 'Use a passkey with PIN or biometrics.',
  },
  'passkey.registered': {
    cause: 'This authenticator already holds a passkey of this account.',
    remedy: 'Use it, or register another authenticator.',
  },
  'passkey.not_found': { cause: 'The account has no passkey with this id.', remedy: wrongId },
  'passkey.last': {
    cause: 'Without this passkey the account could not sign in, or would miss a required second factor.',
    remedy: 'Add another passkey or another factor first.',
  },
  'passkey.last_admin': {
    cause: 'With `auth_mode` `passkey_only`, no other active administrator has a passkey.',
    remedy: 'Give another administrator a passkey first, or change `auth_mode`.',
  },
  'passkey.off': {
    cause: '`auth_mode` is `password`.',
    remedy: 'Sign in with the password, or change `auth_mode`.',
  },
  'mail.off': {
    cause: 'There is no mail server, so the link or code would reach nobody.',
    remedy: 'An administrator connects one (`smtp_url`), or does what the mail would have done.',
  },
  'password.off': {
    cause: '`auth_mode` is `passkey_only`.',
    remedy: 'Sign in with a passkey; a recovery code or an enrolment link registers a new one.',
  },
  'mfa.off': { cause: '`mfa_mode` is `off`.', remedy: 'Set `mfa_mode` to `optional` or `required`.' },
  'mfa.email_off': {
    cause:
      '`allow_email_codes` is off, the address is not verified, or the account has a role for administration.',
    remedy: 'Verify the address, or set up an authenticator app.',
  },
  'mfa.required': {
    cause: 'A second factor is required and this is the last one of the account.',
    remedy: 'Add another factor first.',
  },
  'mfa.none': {
    cause: 'Recovery codes were asked for, for an account without a second factor.',
    remedy: 'Set up an authenticator app (`POST /account/api/totp`) or a passkey, then make the codes.',
  },
  'account.not_found': { cause: 'No account has this id.', remedy: wrongId },
  'account.username_taken': {
    cause: 'Another account has this username. Case and Unicode form do not distinguish names.',
    remedy: 'Choose another username.',
  },
  'account.username_fixed': {
    cause: 'A user wants another username, and the setting `allow_username_change` is off.',
    remedy: 'Ask an administrator, who can change it or turn the setting on.',
  },
  'avatar.unreadable': {
    cause:
      'The file is none of the formats by its content, is cut off or damaged, or took too long to decode.',
    remedy: 'Save the picture as JPEG or PNG again and send that.',
  },
  'avatar.too_many_pixels': {
    cause: 'The picture is larger than a camera takes them, however small its file is.',
    remedy: 'Send a smaller one: 256 pixels on a side are kept.',
  },
  'avatar.busy': {
    cause: 'Pictures are decoded one at a time, and several wait already.',
    remedy: 'Repeat the request after the seconds of `Retry-After`.',
  },
  'account.deletion_off': {
    cause: 'A user wants to delete their account, and the setting `allow_account_deletion` is off.',
    remedy: 'Ask an administrator, who can delete it or turn the setting on.',
  },
  ...stoppedChangeNotes,
  'account.email_domain': {
    cause: 'The settings say which e-mail domains people may sign up with, or add to their accounts.',
    remedy:
      'Use an address of another domain. Administrators: `signup_allowed_email_domains`, `signup_blocked_email_domains`.',
  },
  'account.too_many_emails': {
    cause: 'An account has up to five addresses, those included that wait for their links.',
    remedy: 'Remove one, then add the other.',
  },
  'account.email_taken': {
    cause: 'Another account has this e-mail address.',
    remedy: 'Use another address, or sign in to that account.',
  },
  'account.last_admin': {
    cause: 'The change would leave no active administrator.',
    remedy: 'Make another active user an administrator first.',
  },
  'account.changed': {
    cause: 'The user or application changed between reading and writing.',
    remedy: versionConflict,
  },
  'group.not_found': { cause: 'No group has this name.', remedy: wrongId },
  'group.name_taken': {
    cause: 'A group has this name.',
    remedy: 'Choose another name, or change the existing group.',
  },
  'group.in_use': {
    cause: 'An application lets in only members of this group, or a scope of an API is only for them.',
    remedy:
      'Remove the group from `allowed_groups` of the application, or from the scopes of the API, that the message names.',
  },
  'group.too_many': {
    cause: 'The user has the largest number of groups.',
    remedy: 'Remove the user from another group first.',
  },
  'group.not_member': {
    cause: 'The user is not a member.',
    remedy: 'Nothing to do: the end state is reached.',
  },
  'group.changed': { cause: '`If-Match` names an older version of the group.', remedy: versionConflict },
  'client.not_found': { cause: 'No application has this `client_id`.', remedy: wrongId },
  'client.built_in': {
    cause: 'The application belongs to the pages of this server; without it no user could sign in to them.',
    remedy: 'Leave it as it is; register an application of your own.',
  },
  'client.invalid_metadata': {
    cause: 'A member of the registration is not allowed or does not fit the others.',
    remedy: 'Read `fields` (at `/oauth2/register`: `error_description`); fix the members it names.',
  },
  'client.document_refused': {
    cause:
      'The `client_id` is the address of a metadata document that could not be fetched or may not be used.',
    remedy:
      'The message says why; what a document must say is in `docs/agents.md`. A failure is remembered for five minutes.',
  },
  'api.not_found': { cause: 'No API has this id.', remedy: wrongId },
  'api.identifier_taken': {
    cause: 'An API with this identifier exists, or is being deleted at this moment.',
    remedy: 'Choose another identifier, or change the API that has it.',
  },
  'api.changed': { cause: '`If-Match` names an older version of the API.', remedy: versionConflict },
  'session.not_found': { cause: 'No session has this id, or it ended and was removed.', remedy: wrongId },
  'token.not_found': { cause: 'The token expired, was revoked, or never existed.', remedy: wrongId },
  'grant.not_found': { cause: 'The grant was revoked or has expired.', remedy: wrongId },
  'api_key.not_found': { cause: 'No API key has this id.', remedy: wrongId },
  'setting.unknown': {
    cause: 'No setting has this name.',
    remedy: 'Take the names from docs/configuration.md or `GET /admin/api/settings`.',
  },
  'branding.changed': { cause: '`If-Match` names an older version of the look.', remedy: versionConflict },
  'branding.version_not_found': {
    cause: 'No version of this look has the number; the last 30 are kept.',
    remedy: 'List the versions.',
  },
  'branding.too_many': {
    cause: '500 looks are stored.',
    remedy: 'Delete applications that are not used any more, or let them have the look of the installation.',
  },
  'branding.of_stranger': {
    cause: 'An agent, the Admin UI itself, or an application that registered itself and is not first-party.',
    remedy: 'Make it first-party (`skip_consent`), if you vouch for it.',
  },
  'setting.changed': { cause: '`If-Match` names an older version of the settings.', remedy: versionConflict },
  'onboarding.closed': {
    cause: 'An administrator exists, so the onboarding page is closed for good.',
    remedy:
      'Sign in at `/admin`. No administrator can any more: [operations.md](operations.md#no-administrator-can-sign-in).',
  },
  'signup.closed': {
    cause: '`allow_self_signup` is off, here or for this application.',
    remedy: 'Ask for an invitation, or turn the setting on.',
  },
  'invitation.not_found': { cause: 'The invitation was used, revoked, or never existed.', remedy: wrongId },
  'server.busy': {
    cause: 'More password hashes wait than the cores can compute in time.',
    remedy: 'Retry after `Retry-After`. If it lasts, add web processes (docs/sizing.md).',
  },
  'server.unavailable': {
    cause: 'The store does not answer.',
    remedy: 'Retry after `Retry-After`. Operators: `/readyz` names the store that is down.',
  },
  'server.error': {
    cause: 'A bug or an unforeseen state.',
    remedy: 'Find the `request_id` of the answer in the log; report it with that entry.',
  },
};
