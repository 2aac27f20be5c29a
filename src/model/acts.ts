// Every act of people, with its sensitivity (decision 0011): what gives access, shows secrets or cannot be undone wants an
// authentication of the last five minutes, of the account's highest class. Programs are never asked. The admin API, the Admin UI
// (whose pages call its routes) and the account pages read this table, the account API its operations (account-api.ts); an act that is
// in neither does not start.
import type { MemberTable } from './members.ts';

export type ActSensitivity =
  | 'plain'
  | 'sensitive'
  /** By the members that are given (members.ts). */
  | { readonly members: MemberTable; readonly of: 'new' | 'existing' }
  /** Not where a parameter of the address has one of these values. */
  | { readonly unless: { readonly name: string; readonly values: readonly string[]; readonly why: string } };

const unlessTried = { unless: { name: 'dry_run', values: ['true'], why: 'which changes nothing' } } as const;

/** Of the admin API, by method and path. Reading is plain where it is not listed. */
export const ADMIN_ACTS = {
  'POST /users': { members: 'user', of: 'new' },
  'PUT /users/{id}': { members: 'user', of: 'existing' },
  'PATCH /users/{id}': { members: 'user', of: 'existing' },
  'DELETE /users/{id}': 'sensitive',
  'POST /users/unlock': { members: 'user_reference', of: 'existing' },
  'POST /users/{id}/unlock': 'plain',
  'POST /users/{id}/deactivate': 'sensitive',
  'POST /users/{id}/reactivate': 'sensitive',
  'POST /users/{id}/revoke-sessions': 'plain',
  'POST /users/{id}/reset-mfa': 'sensitive',
  // These two send to the user's own address what only its owner can use.
  'POST /users/{id}/send-password-reset': 'plain',
  'POST /users/{id}/send-email-verification': 'plain',
  'POST /users/{id}/send-enrolment-link': 'sensitive',
  'POST /users/{id}/settle-email-change': 'sensitive',
  // Its owner can add it again.
  'POST /users/{id}/remove-picture': 'plain',
  'POST /users/import': 'sensitive',
  'DELETE /users/{id}/passkeys/{passkey_id}': 'sensitive',
  // What only takes access away waits for nobody.
  'DELETE /users/{id}/grants/{grant_id}': 'plain',
  'DELETE /users/{id}/sessions/{session_id}': 'plain',
  'DELETE /users/{id}/trusted-devices/{device_id}': 'plain',
  'DELETE /sessions/{id}': 'plain',
  'DELETE /tokens/{id}': 'plain',
  'POST /clients': 'sensitive',
  'PUT /clients/{client_id}': 'sensitive',
  'PATCH /clients/{client_id}': { members: 'client', of: 'existing' },
  'DELETE /clients/{client_id}': 'sensitive',
  'POST /clients/{client_id}/rotate-secret': 'sensitive',
  'POST /clients/{client_id}/test-logout': 'plain',
  'PUT /clients/{client_id}/branding': 'sensitive',
  'PATCH /clients/{client_id}/branding': 'sensitive',
  'POST /clients/{client_id}/branding/restore': 'sensitive',
  'POST /resources': 'sensitive',
  'PUT /resources/{id}': 'sensitive',
  'PATCH /resources/{id}': { members: 'api', of: 'existing' },
  'DELETE /resources/{id}': 'sensitive',
  'POST /resources/{id}/rotate-secret': 'sensitive',
  'POST /resources/import': 'sensitive',
  'POST /initial-access-tokens': 'sensitive',
  'DELETE /initial-access-tokens/{id}': 'sensitive',
  'POST /invitations': { members: 'invitation', of: 'new' },
  'POST /invitations/{id}/resend': 'plain',
  'DELETE /invitations/{id}': 'plain',
  'POST /groups': { members: 'group', of: 'new' },
  'PUT /groups/{id}': { members: 'group', of: 'existing' },
  'PATCH /groups/{id}': { members: 'group', of: 'existing' },
  'DELETE /groups/{id}': 'sensitive',
  'POST /groups/{id}/members': 'sensitive',
  'DELETE /groups/{id}/members/{user_id}': 'plain',
  'POST /api-keys': 'sensitive',
  'DELETE /api-keys/{id}': 'sensitive',
  'PUT /settings': 'sensitive',
  'PATCH /settings': 'sensitive',
  'POST /settings/import': unlessTried,
  'PUT /settings/mail-server': 'sensitive',
  'POST /settings/test-email': { members: 'test_mail', of: 'new' },
  'PUT /branding': 'sensitive',
  'PATCH /branding': 'sensitive',
  'POST /branding/restore': 'sensitive',
  'POST /branding/pictures': { members: 'picture', of: 'new' },
  'PUT /branding/mails': 'sensitive',
  'PUT /branding/mails/{mail}/{language}': 'sensitive',
  'POST /branding/mails/restore': 'sensitive',
  'POST /keys/rotate': 'sensitive',
  // Stored texts contain codes and links that let any reader act as the recipient.
  'GET /mails': {
    unless: { name: 'state', values: ['queued', 'sent', 'failed'], why: 'whose mails have no texts' },
  },
  'GET /mails/{id}': 'sensitive',
} as const satisfies Readonly<Record<string, ActSensitivity>>;

/** Members of an answer that only a fresh sign-in gets: without one they are left out. */
export const FRESH_ANSWERS = {
  'POST /invitations': ['url'],
  'POST /invitations/{id}/resend': ['url'],
} as const;

/**
 * Of the forms below /account, by their addresses. The link of `by_link` was asked for by a fresh sign-in of the same account
 * and counts once; `by_password`: where it is all that the account has, the current one, asked for by the act, is the fresh
 * authentication.
 */
export const ACCOUNT_PAGE_ACTS = {
  '/account/sessions/end': 'sensitive',
  '/account/sessions/end-others': 'sensitive',
  '/account/devices/forget': 'sensitive',
  '/account/devices/forget-all': 'sensitive',
  '/account/applications/remove': 'sensitive',
  // It grants nothing, and the mail goes to the owner in any case.
  '/account/email/verify': 'plain',
  // The profile asks where the username is another one (members.ts).
  '/account/profile': { members: 'own_profile', of: 'existing' },
  '/account/picture': { members: 'own_picture', of: 'existing' },
  '/account/picture/remove': 'plain',
  '/account/email': 'sensitive',
  '/account/email/primary': 'sensitive',
  '/account/email/remove': 'sensitive',
  '/account/email/settle': 'sensitive',
  '/account/email/confirm': 'by_link',
  '/account/email/stop': 'by_link',
  '/account/data': 'sensitive',
  '/account/delete': 'sensitive',
  '/account/not-me': 'sensitive',
  '/account/password': 'by_password',
  '/account/second-factor/app': 'sensitive',
  '/account/second-factor/app/remove': 'sensitive',
  '/account/second-factor/email': 'sensitive',
  '/account/second-factor/email/remove': 'sensitive',
  '/account/second-factor/codes': 'sensitive',
  '/account/passkeys/rename': 'sensitive',
  '/account/passkeys/remove': 'sensitive',
  '/account/passkeys/register/begin': 'sensitive',
  '/account/passkeys/register/finish': 'sensitive',
} as const satisfies Readonly<Record<string, ActSensitivity | 'by_password' | 'by_link'>>;

/** @returns undefined for an act that the table does not have */
export const actIn = <Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;
