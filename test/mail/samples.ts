// Every mail with all that it can say, for the tests that look at each of them in each language.
import type { MailValues } from '../../src/mail/templates.ts';
import { safeValues } from '../../src/mail/values.ts';
import { type MailTemplate, mailRows } from '../../src/model/mails.ts';
import { baseUrl, start } from './support.ts';

export const mailSecrets = { code: '314159', token: 'A1b2C3d4E5f6' };

const needed: MailValues = {
  code: mailSecrets.code,
  url: `${baseUrl}/oauth2/go?token=${mailSecrets.token}`,
  expiresSeconds: 1800,
  lockedSeconds: 900,
  codesLeft: 7,
  dueAt: start + 30 * 86_400_000,
};

const request: MailValues = {
  name: 'Ann Lee',
  username: 'ann',
  ipAddress: '203.0.113.5',
  device: 'Firefox on Windows',
  timeZone: 'Europe/Berlin',
};

/** What each template can have beside what it needs. */
const further: Readonly<Partial<Record<MailTemplate, MailValues>>> = {
  signup_known: { url: `${baseUrl}/oauth2/forgot-password` },
  invitation: { inviter: 'Ada Lovelace', application: 'Wiki' },
  enrolment: { inviter: 'Ada Lovelace' },
};

/** What the template needs, and what is known of the request, as it goes into the outbox. */
export function sampleValues(name: MailTemplate, own: MailValues = {}): MailValues {
  const values = mailRows[name].needs.map((value): [string, string | number] => [value, needed[value] ?? '']);
  const all = { ...request, ...Object.fromEntries(values), ...further[name], ...own };
  return safeValues(name, all, { baseUrl, at: start });
}
