// Renders a mail template to subject, plain text and HTML in the reader's language. The template engine comes from
// src/views/views.ts.
import { chooseLanguage, direction, type Language, loadStrings, type Strings } from '../views/strings.ts';
import { buttonColors, type Theme } from '../views/theme.ts';
import { createEnvironment, templates, textFunctions } from '../views/views.ts';
import type { MailTemplate, MailValues, RenderMail } from './templates.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** In words with the language's plural form: "30 minutes", "1 Stunde". */
function duration(language: Language, seconds: number): string {
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
const moment = (language: Language, at: number): string => {
  const format = new Intl.DateTimeFormat(language, {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone: 'UTC',
  });
  return `${format.format(at)} UTC`;
};

/** Known facts about the request that caused the mail. */
const factsOf = (language: Language, { username, at, ipAddress, device }: MailValues) =>
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
  const html = createEnvironment({ isHtml: true });
  const text = createEnvironment({ isHtml: false });
  const strings: Strings = loadStrings(new URL('strings/', templates));
  return (template: MailTemplate, values: MailValues, tag: string | undefined) => {
    const language = chooseLanguage(tag, undefined);
    const brand = theme();
    const model = {
      ...values,
      ...textFunctions(strings, language),
      duration: (seconds: number) => duration(language, seconds),
      facts: factsOf(language, values),
      language,
      direction: direction(language),
      brand,
      buttonColors: buttonColors(brand.accentColor),
      site: baseUrl,
    };
    const name = `mail/${template}.njk`;
    const plain = (layout: string): string => text.render(name, { ...model, layout: `mail/${layout}` });
    return {
      subject: plain('layout.subject.njk').trim(),
      text: `${plain('layout.text.njk')
        .replace(/\n{3,}/g, '\n\n')
        .trim()}\n`,
      html: html.render(name, { ...model, layout: 'mail/layout.html.njk' }),
    };
  };
}
