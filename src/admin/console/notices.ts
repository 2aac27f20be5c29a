// The notices shown after an act. Addresses carry their keys, never a text, so that a link cannot inject one.

/** What was done, and is. */
const done: Readonly<Record<string, string>> = {
  'user-created': 'User created.',
  'user-saved': 'Changes saved.',
  'user-deleted': 'User deleted, with all sessions, tokens and devices.',
  'user-picture-removed': 'Picture removed. The user can add another one.',
  'user-unlocked': 'Unlocked. The user can sign in again.',
  'user-deactivated': 'Deactivated. All sessions and tokens have ended.',
  'user-reactivated': 'Reactivated. The user can sign in again.',
  'user-signed-out': 'Signed out everywhere.',
  'user-mfa-reset': 'Second factor reset. The user sets up a new one at the next sign-in.',
  'user-email-kept': 'The user keeps the new e-mail address.',
  'user-email-undone': 'The user has the former e-mail address again.',
  'user-role': 'Role changed. The user was signed out everywhere.',
  'user-password': 'Password set. The user was signed out everywhere.',
  'passkey-removed': 'Passkey removed. It can no longer be used to sign in.',
  'access-taken': 'Access revoked. The application’s tokens of this user are no longer valid.',
  'token-revoked': 'Token revoked.',
  'invitation-withdrawn': 'Invitation revoked. Its links no longer work.',
  'key-rotating': 'A new key is published. It starts to sign once applications have had time to fetch it.',
  'key-rotated':
    'A new key signs within seconds. The old one stays in the key list until its last token has expired.',
  'key-replaced': 'Key replaced. Tokens signed with the old key are no longer accepted.',
  'mail-texts-saved': 'Saved. The next e-mail has these texts.',
  'branding-saved': 'Saved. Pages have it within a second.',
  'branding-restored': 'The earlier version is back, as a new one.',
  'settings-imported': 'Settings imported. They take effect immediately.',
  'device-revoked': 'Trusted browser removed. It is asked for the second factor again.',
  'group-created': 'Group created. Add its first members.',
  'group-saved': 'Changes saved.',
  'group-deleted': 'Group deleted. Its members are not deleted.',
  'member-added': 'Added to the group.',
  'member-removed': 'Removed from the group.',
  'access-saved': 'Access saved.',
  'api-key-revoked': 'API key revoked.',
  'steps-dismissed': 'First steps dismissed. The link below the charts brings them back.',
  'session-ended': 'Session ended, and its tokens revoked.',
  'scopes-saved': 'Scopes saved. They count from the next request on.',
  'application-saved': 'Changes saved.',
  'api-saved': 'Changes saved.',
  'api-deleted': 'API deleted, and its tokens revoked.',
  'scope-added': 'Scope added.',
  'scope-removed': 'Scope removed, and tokens for it revoked.',
  'address-approved': 'Address approved. This server may call it where OUTBOUND_ALLOW covers it.',
  'approval-withdrawn': 'Approval revoked. This server calls the address only if it is public.',
  'logout-test-delivered': 'Test sent. The application accepted it.',
  'application-deleted': 'Application deleted, with all grants and tokens.',
  'application-deactivated': 'Deactivated. Users can no longer sign in to it, and its tokens are revoked.',
  'application-reactivated': 'Reactivated.',
  'token-withdrawn': 'Token revoked. Applications registered with it stay.',
  'settings-saved': 'Settings saved. They take effect immediately.',
};

/** What is to be known: nothing was done, or not what was wanted. */
const told: Readonly<Record<string, string>> = {
  'api-key-shown': 'A key is shown only once. If you lost it, revoke it and create a new one.',
  'secret-shown': 'A secret is shown only once. If you lost it, rotate it to get a new one.',
  'settings-same': 'No changes to save.',
  'mail-server-removed':
    'Saved. There is no mail server: e-mails are stored in the outbox, and nobody gets them.',
  'user-reset-kept':
    'Reset link created. This server can’t send e-mail: copy the link, or connect a mail server.',
  'user-enrolment-kept':
    'Set-up link created. This server can’t send e-mail: copy the link, or connect a mail server.',
  'user-verification-kept':
    'This server can’t send e-mail, so nobody gets the verification link. Connect a mail server.',
};

/** What went wrong. */
const failed: Readonly<Record<string, string>> = {
  'logout-test-failed': 'The test did not arrive. The reason is below.',
};

/** After the mail of an act was created: what became of it so far, never more. */
const queued: Readonly<Record<string, string>> = {
  'user-reset-queued': 'Reset link created. Its e-mail leaves as soon as the mail server accepts it.',
  'user-enrolment-queued': 'Set-up link created. Its e-mail leaves as soon as the mail server accepts it.',
  'user-verification-queued':
    'Verification link created. Its e-mail leaves as soon as the mail server accepts it.',
};

export interface Notice {
  readonly text: string;
  readonly kind: 'done' | 'note' | 'problem';
  /** Below /admin. */
  readonly links: readonly { readonly path: string; readonly label: string }[];
}

const textIn = (table: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

const connect = { path: '/settings/mail', label: 'Connect a mail server' };

/** @param done `key`, or `key.id` with the id of a mail in the outbox @returns undefined for an unknown key */
export function noticeOf(given: string | undefined): Notice | undefined {
  const [, key = '', id] = /^([a-z-]{1,40})(?:\.([\w-]{1,64}))?$/.exec(given ?? '') ?? [];
  const mail = (label: string) => (id === undefined ? [] : [{ path: `/outbox/${id}`, label }]);
  const isKept = key.endsWith('-kept');
  const links = key === 'user-verification-kept' ? [] : mail('Show the link');
  const notices = [
    [done, 'done', []],
    [queued, 'done', mail('Show the e-mail')],
    [told, 'note', isKept ? [...links, connect] : []],
    [failed, 'problem', []],
  ] as const;
  for (const [table, kind, ways] of notices) {
    const text = textIn(table, key);
    if (text !== undefined) return { text, kind, links: ways };
  }
  return undefined;
}

const ICONS = { done: 'check', note: 'note', problem: 'warning' } as const;

/** What the layout shows. @param own of the form that the page shows again: more urgent than what was done */
export function noticeModel(own?: string, found?: Notice) {
  const notice = own === undefined ? found : ({ text: own, kind: 'note', links: [] } as const);
  const { text, kind = 'done', links = [] } = notice ?? {};
  return { notice: text, noticeKind: kind, noticeIcon: ICONS[kind], noticeLinks: links };
}

/** To an auditor who wants to change something. */
export const READING_ALONE =
  'Your role is auditor: it opens everything here for reading, but for what is written in mails, and changes nothing. ' +
  'Ask an administrator to do this.';
