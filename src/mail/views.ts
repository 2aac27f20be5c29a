// What a mail shows beside its values: durations and the facts of the request, in the reader's language.
import { createMailRenderer, type Theme } from '../views/index.ts';
import type { MailTemplate, MailValues, RenderMail } from './templates.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** In words with the language's plural form: "30 minutes", "1 Stunde". */
function duration(language: string, seconds: number): string {
  const [unit, size] =
    seconds >= 2 * DAY
      ? ['day', DAY]
      : seconds >= HOUR && seconds % HOUR === 0
        ? ['hour', HOUR]
        : ['minute', MINUTE];
  const format = new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' });
  return format.format(Math.max(1, Math.round(seconds / size)));
}

/** In UTC, since the reader's time zone is unknown. */
const moment = (language: string, at: number): string => {
  const format = new Intl.DateTimeFormat(language, {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone: 'UTC',
  });
  return `${format.format(at)} UTC`;
};

/** Known facts about the request that caused the mail. */
const factsOf = (language: string, { username, at, ipAddress, device }: MailValues) =>
  [
    { label: 'mail.fact_account', value: username },
    { label: 'mail.fact_time', value: typeof at === 'number' ? moment(language, at) : undefined },
    { label: 'mail.fact_ip', value: ipAddress },
    { label: 'mail.fact_device', value: device },
  ].filter(({ value }) => value !== undefined);

/**
 * @param theme returns the current branding; called for every mail
 * @param baseUrl shown at the end of each mail, so that users know the correct address
 */
export function createMailViews({ theme, baseUrl }: { theme: () => Theme; baseUrl: string }): RenderMail {
  const render = createMailRenderer({ theme });
  return (template: MailTemplate, values: MailValues, languageTag: string | undefined) =>
    render(template, languageTag, (language) => ({
      ...values,
      duration: (seconds: number) => duration(language, seconds),
      facts: factsOf(language, values),
      site: baseUrl,
    }));
}
