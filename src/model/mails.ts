// The mails: one row each. Layout: templates/mail/<name>.njk; texts: the `mail.…` strings.

interface MailRow {
  /** Where administrators choose one. */
  readonly title: string;
  /** The values without which it cannot be written. `url`s are links under BASE_URL, `expiresSeconds` the lifetime of link or code. */
  readonly needs: readonly string[];
  /**
   * Whoever uses what it carries has the `mailbox`, so that nobody else may read it; `where_sent`: where there is no mail
   * server it is made to be handed over, and shows nothing.
   */
  readonly proves?: 'mailbox' | 'where_sent';
  /** Further values of its preview. Addresses are below BASE_URL. */
  readonly sample?: Readonly<Record<string, string>>;
}

const rows = {
  sign_in_code: { title: 'Sign-in code', needs: ['code', 'expiresSeconds'] },
  /** Optional `waitsSeconds`: it does not work before. */
  password_reset: { title: 'Password reset', needs: ['url', 'expiresSeconds'] },
  email_verification: {
    title: 'E-mail verification',
    needs: ['url', 'expiresSeconds'],
    proves: 'mailbox',
  },
  magic_link: { title: 'Sign-in link', needs: ['url', 'expiresSeconds'] },
  signup_code: { title: 'Sign-up code', needs: ['code', 'expiresSeconds'], proves: 'mailbox' },
  /** To an address that already has an account when someone signs up with it; `url`: the password reset. */
  signup_known: {
    title: 'Sign-up with a known address',
    needs: [],
    sample: { url: '/oauth2/forgot-password' },
  },
  /** Optional `inviter`, the administrator's name, and `application`, where the invited will sign in. */
  invitation: {
    title: 'Invitation',
    needs: ['url', 'expiresSeconds'],
    proves: 'where_sent',
    sample: { inviter: 'Grace Hopper', application: 'Acme Analytics' },
  },
  /** Optional `inviter`. */
  enrolment: {
    title: 'Account set-up',
    needs: ['url', 'expiresSeconds'],
    proves: 'where_sent',
    sample: { inviter: 'Grace Hopper' },
  },
  /** `lockedSeconds`: from now. */
  account_locked: { title: 'Account locked', needs: ['lockedSeconds'] },
  password_changed: { title: 'Password changed', needs: [] },
  email_changed: { title: 'E-mail address changed', needs: [] },
  /** To the new address of a change by the owner; if it is of another account, the second. */
  email_change: {
    title: 'Change of e-mail address',
    needs: ['url', 'expiresSeconds'],
    proves: 'mailbox',
  },
  email_change_known: { title: 'Change to a known address', needs: [] },
  /** To the primary address after one was added; the link removes it. */
  email_added: { title: 'E-mail address added', needs: ['url', 'expiresSeconds'] },
  email_removed: { title: 'E-mail address removed', needs: [] },
  /** To the old address after such a change; the link stops it. */
  email_change_stop: { title: 'Stop a change of e-mail address', needs: ['url', 'expiresSeconds'] },
  /** To both addresses, when a change that was stopped was settled. */
  email_change_kept: { title: 'Stopped change of e-mail address kept', needs: [] },
  email_change_undone: { title: 'Stopped change of e-mail address undone', needs: [] },
  /** To the present address, when a new password was asked for by the former one, which can stop the change. */
  password_reset_waits: { title: 'Password reset by a former address', needs: [] },
  new_sign_in: { title: 'New sign-in', needs: [] },
  data_exported: { title: 'Data downloaded', needs: [] },
  /** `url`: where to sign in to undo it, without a token; `dueAt`: epoch milliseconds. */
  deletion_requested: { title: 'Deletion requested', needs: ['url', 'dueAt'] },
  deletion_undone: { title: 'Deletion undone', needs: [] },
  account_deleted: { title: 'Account deleted', needs: [] },
  /** To administrators; `name` and `username` are the owner's, `url` the owner's page in the Admin UI. */
  compromise_reported: { title: 'Account reported as taken over', needs: ['url'] },
  second_factor_added: { title: 'Second factor added', needs: [] },
  second_factor_replaced: { title: 'Second factor replaced', needs: [] },
  second_factor_removed: { title: 'Second factor removed', needs: [] },
  second_factor_reset: { title: 'Second factor reset', needs: [] },
  recovery_codes_replaced: { title: 'Recovery codes replaced', needs: [] },
  passkey_added: { title: 'Passkey added', needs: [] },
  passkey_removed: { title: 'Passkey removed', needs: [] },
  /** `codesLeft`: number of unused codes. */
  recovery_code_used: { title: 'Recovery code used', needs: ['codesLeft'] },
  test: { title: 'Test', needs: [] },
} as const satisfies Readonly<Record<string, MailRow>>;

export type MailTemplate = keyof typeof rows;

export const mailRows: Readonly<Record<MailTemplate, MailRow>> = rows;

export const isMail = (name: string): name is MailTemplate => Object.hasOwn(rows, name);

export const mailNames: readonly MailTemplate[] = Object.keys(rows).filter(isMail);
