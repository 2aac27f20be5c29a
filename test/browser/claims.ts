// Every message of the product that claims that something was sent, saved or ended, found by its words; and what holds each, so that
// a new one fails until it is told what makes it true.
import { readFileSync } from 'node:fs';
import { eventRows } from '../../src/model/events/events.ts';

/** Words of deliveries and endings. */
const CLAIM =
  /\b(?:sent|send(?:s|ing)?|mailed|told|saved|removed|revoked|deleted|ended|signed out|restored|delivered|accepted it|leaves)\b/i;

/** Between what names a claim and what holds it. */
export const HOLDERS = {
  /** A promise that pages make only where there is a mail server: mails are queued before the page, durably. */
  queued: 'the mail is in the outbox before the page is shown',
  /** The act's write was acknowledged by the store, or the page is an error (test below). */
  written: 'the store acknowledged the write, or the answer is 503',
  /** The mail server, the application or the browser answered. */
  answered: 'the other side answered so',
  /** No claim: a label, a question, a hint of what an act would do, a mail about an act that is written. */
  none: 'says what would happen, or asks',
} as const;

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** By catalogue: its key, and the sentence. */
export function claimsOfProduct(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const strings: Record<string, string> = JSON.parse(read('templates/strings/en.json'));
  for (const [key, text] of Object.entries(strings)) if (CLAIM.test(text)) found.set(key, text);
  for (const [, key = '', text = ''] of read('src/admin/console/notices.ts').matchAll(
    /^ {2}'([a-z-]+)':\s+'([^']+)'/gm,
  ))
    if (CLAIM.test(text)) found.set(`notice ${key}`, text);
  for (const [name, { label }] of Object.entries(eventRows))
    if (CLAIM.test(label)) found.set(`event ${name}`, label);
  return found;
}

type Holder = keyof typeof HOLDERS;

/** The first that matches the key holds it. */
const rules: readonly (readonly [RegExp, Holder])[] = [
  [
    /^(?:link_sent\.|mfa\.lead_email|signup\.mailed|account\.done_verification|own_email\.done_sent)/,
    'queued',
  ],
  [/^(?:own_email\.(?:former_told|primary_told)|not_me\.administrators)/, 'queued'],
  [/^notice user-(?:reset|enrolment|verification)-(?:queued|kept)/, 'queued'],
  [/^notice (?:logout-test|mail-server)/, 'answered'],
  [/^notice /, 'written'],
  [/^event mail\.test_/, 'answered'],
  [/^event /, 'written'],
  [/\.(?:done(?:_\w+)?|changed_\w+|undone_\w+|stopped\w*|dropped\w*|gone_lead)$/, 'written'],
  [/^(?:signed_out|leaving|account\.done|activity|own_picture\.done|export|mail)\./, 'written'],
  [/^(?:reset_done|recovery|passkeys|second|account|own_\w+|alert|reason|device|own|not_me)\./, 'none'],
  [/./, 'none'],
];

export const holderOf = (key: string): Holder => rules.find(([pattern]) => pattern.test(key))?.[1] ?? 'none';

/** What no page may say in the past: nobody knows it when the page is shown. */
export const IN_THE_PAST =
  /\bwe(?:’ve| have)? (?:just )?(?:sent|told|mailed)\b|\b(?:link|code|mail|invitation) (?:was |has been )?sent\b|\bwe told\b/i;
