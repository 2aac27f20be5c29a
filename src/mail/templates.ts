// The mails and the values that each needs. Layout: templates/mail/<name>.njk; texts: the `mail.…` strings. Rendering is
// passed in.
import type { LogoSize } from '../views/index.ts';

/** `url`s are links under BASE_URL; `expiresSeconds` is the lifetime of the link or code. */
export const mailTemplates = {
  sign_in_code: ['code', 'expiresSeconds'],
  /** Optional `waitsSeconds`: it does not work before. */
  password_reset: ['url', 'expiresSeconds'],
  email_verification: ['url', 'expiresSeconds'],
  magic_link: ['url', 'expiresSeconds'],
  signup_code: ['code', 'expiresSeconds'],
  /** To an address that already has an account when someone signs up with it; `url`: the password reset. */
  signup_known: [],
  /** Optional `inviter`, the administrator's name, and `application`, where the invited will sign in. */
  invitation: ['url', 'expiresSeconds'],
  /** Optional `inviter`. */
  enrolment: ['url', 'expiresSeconds'],
  /** `lockedSeconds`: from now. */
  account_locked: ['lockedSeconds'],
  password_changed: [],
  email_changed: [],
  /** To the new address of a change by the owner; if it is of another account, the second. */
  email_change: ['url', 'expiresSeconds'],
  email_change_known: [],
  /** To the primary address after one was added; the link removes it. */
  email_added: ['url', 'expiresSeconds'],
  email_removed: [],
  /** To the old address after such a change; the link stops it. */
  email_change_stop: ['url', 'expiresSeconds'],
  /** To both addresses, when a change that was stopped was settled. */
  email_change_kept: [],
  email_change_undone: [],
  /** To the present address, when a new password was asked for by the former one, which can stop the change. */
  password_reset_waits: [],
  new_sign_in: [],
  data_exported: [],
  /** `url`: where to sign in to undo it, without a token; `dueAt`: epoch milliseconds. */
  deletion_requested: ['url', 'dueAt'],
  deletion_undone: [],
  account_deleted: [],
  /** To administrators; `name` and `username` are the owner's, `url` the owner's page in the Admin UI. */
  compromise_reported: ['url'],
  second_factor_added: [],
  second_factor_replaced: [],
  second_factor_removed: [],
  second_factor_reset: [],
  recovery_codes_replaced: [],
  passkey_added: [],
  passkey_removed: [],
  /** `codesLeft`: number of unused codes. */
  recovery_code_used: ['codesLeft'],
  test: [],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** A picture that is sent along; none is ever fetched. Programs show no SVG. */
export interface MailLogo extends LogoSize {
  readonly contentType: 'image/png' | 'image/jpeg';
  readonly bytes: Uint8Array;
}

export type MailTemplate = keyof typeof mailTemplates;

/**
 * Besides what a template needs, every mail can contain `name` (the person's), `username`, `ipAddress`, `device` (a name of our own such as
 * "Firefox on Windows", never a User-Agent), `at` (epoch ms; default: the time of queueing) and `timeZone` (the reader's), and a
 * notice a `url` for its button.
 */
export type MailValues = Readonly<Record<string, string | number>>;

export interface RenderedMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** @param language a BCP 47 tag, or undefined for the fallback */
export type RenderMail = (
  template: MailTemplate,
  values: MailValues,
  language: string | undefined,
  logo?: LogoSize,
) => RenderedMail;
