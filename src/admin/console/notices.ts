// Owns the sentences that tell what was just done. Addresses carry their keys, never a text.
const notices: Readonly<Record<string, string>> = {
  'user-created': 'User created.',
  'user-saved': 'Changes saved.',
  'user-deleted': 'User deleted, with every session, token and device.',
  'user-unlocked': 'Unlocked. The user can sign in again.',
  'user-deactivated': 'Deactivated. Every session and token has ended.',
  'user-reactivated': 'Reactivated. The user can sign in again.',
  'user-signed-out': 'Signed out everywhere.',
  'user-mfa-reset': 'Second factor removed. The next sign-in asks for a new one.',
  'user-reset-sent': 'A link to set a new password is on its way.',
  'user-verification-sent': 'A link to confirm the e-mail address is on its way.',
  'user-role': 'Role changed. The user was signed out everywhere.',
  'user-password': 'Password set. The user was signed out everywhere.',
  'user-enrolment-sent': 'A one-time link to set up the account is on its way.',
  'passkey-removed': 'Passkey removed. Nobody can sign in with it any more.',
  'access-taken': 'Taken back. The application’s tokens of this person have ended.',
  'token-revoked': 'Token revoked.',
  'invitation-withdrawn': 'Invitation withdrawn. Its links no longer work.',
  'key-rotating':
    'A new key is published. It begins to sign as soon as every application has had time to fetch it.',
  'key-rotated':
    'A new key signs within seconds. The old one stays in the key list until its last token has expired.',
  'key-replaced': 'The key was replaced. Nothing that the old one signed is accepted any more.',
  'settings-imported': 'Settings imported. They hold from the next request on.',
  'device-revoked': 'This browser is asked for the second factor again.',
  'group-created': 'Group created. Add its first members.',
  'group-saved': 'Changes saved.',
  'group-deleted': 'Group deleted. Its members stay as users.',
  'member-added': 'Added to the group.',
  'member-removed': 'Taken out of the group.',
  'access-saved': 'Saved. From now on this decides who may sign in.',
  'api-key-shown': 'A key is shown once. If nobody kept it, revoke it and create another.',
  'api-key-revoked': 'Key revoked. It is refused from the next request on.',
  'session-ended': 'Session ended, with the tokens it gave.',
  'application-saved': 'Changes saved.',
  'secret-shown': 'A secret is shown once. If nobody kept it, rotate it to get another.',
  'application-deleted': 'Application deleted, with every grant and token.',
  'application-deactivated': 'Deactivated. Nobody can sign in to it, and its tokens have ended.',
  'application-reactivated': 'Reactivated.',
  'token-withdrawn': 'Token withdrawn. What was registered with it stays.',
  'settings-saved': 'Settings saved. They hold from the next request on.',
  'settings-same': 'Nothing was changed.',
};

/** @returns undefined for a key that is not ours */
export const noticeOf = (key: string | null): string | undefined =>
  key !== null && Object.hasOwn(notices, key) ? notices[key] : undefined;
