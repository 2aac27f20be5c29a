// Owns which mails there are and which values each needs. What they look like is templates/mail/<name>.njk, what they
// say is the `mail.…` strings; the one who renders them is handed in (src/views has the template engine).

/** `url`s are links under BASE_URL; `expiresSeconds` says how long the link or code lives. */
export const mailTemplates = {
  sign_in_code: ['code', 'expiresSeconds'],
  password_reset: ['url', 'expiresSeconds'],
  email_verification: ['url', 'expiresSeconds'],
  magic_link: ['url', 'expiresSeconds'],
  signup_code: ['code', 'expiresSeconds'],
  /** To the owner of an address that somebody signs up with; `url`: where a forgotten password is replaced. */
  signup_known: [],
  invitation: ['url', 'expiresSeconds'],
  enrolment: ['url', 'expiresSeconds'],
  /** `lockedSeconds`: how long from now. */
  account_locked: ['lockedSeconds'],
  password_changed: [],
  email_changed: [],
  new_sign_in: [],
  second_factor_added: [],
  second_factor_replaced: [],
  second_factor_removed: [],
  second_factor_reset: [],
  recovery_codes_replaced: [],
  passkey_added: [],
  passkey_removed: [],
  /** `codesLeft`: how many are unused now. */
  recovery_code_used: ['codesLeft'],
  test: [],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type MailTemplate = keyof typeof mailTemplates;

/**
 * Beside what a template needs, every mail may tell `username`, `ipAddress` and `device` (a name that we made, as
 * "Firefox on Windows", never a User-Agent), `at` (epoch ms; else the time of queueing), and a notice may have a `url`
 * for its button.
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
) => RenderedMail;
