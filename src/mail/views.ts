// What a mail shows beside its values: durations and the facts of the request, in the reader's language.
import { dateFormat } from '../dates.ts';
import { deviceParts } from '../events/index.ts';
import type { MailTemplate } from '../model/mails.ts';
import { createMailRenderer, type Theme } from '../views/index.ts';
import type { MailValues, RenderMail } from './templates.ts';
import type { MailTexts } from './texts.ts';
import { shown } from './values.ts';

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

/** In the reader's time zone where the profile has one that exists, else in UTC; it is named either way. */
function moment(language: string, at: number, timeZone: string | number | undefined): string {
  const style = { dateStyle: 'long', timeStyle: 'short' } as const;
  if (typeof timeZone === 'string' && isTimeZone(timeZone)) {
    const zone = new Intl.DateTimeFormat(language, { timeZone, timeZoneName: 'short' })
      .formatToParts(at)
      .find(({ type }) => type === 'timeZoneName');
    const format = dateFormat(language, { ...style, timeZone });
    return `${format.format(at)} ${zone?.value ?? timeZone}`;
  }
  return `${dateFormat(language, { ...style, timeZone: 'UTC' }).format(at)} UTC`;
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

type Texts = (key: string, values?: Readonly<Record<string, unknown>>) => string;

/** The place of an address in words of that language, where there is a file that knows it. */
export type PlaceOf = (ipAddress: string, language: string) => string | undefined;

/**
 * @param deps.theme returns the current branding; called for every mail
 * @param deps.baseUrl shown at the end of each mail, so that users know the correct address
 */
export function createMailViews(deps: {
  theme: () => Theme;
  /** What an administrator wrote in place of shipped texts; called for every mail. */
  ownTexts?: () => MailTexts | undefined;
  baseUrl: string;
  placeOf?: PlaceOf;
}): RenderMail {
  const { theme, ownTexts, baseUrl, placeOf } = deps;
  const render = createMailRenderer({ theme, ownTexts });

  /** Known facts about the request that caused the mail: who, when, where, with what. */
  function factsOf(values: MailValues, language: string, t: Texts) {
    const { name: person, username, at, ipAddress, device, timeZone } = values;
    const { browser, system } = deviceParts(String(device ?? 'Unknown'));
    const place = typeof ipAddress === 'string' ? placeOf?.(ipAddress, language) : undefined;
    const facts: readonly (readonly [string, string | number | undefined])[] = [
      ['account', person ?? username],
      ['time', typeof at === 'number' ? moment(language, at, timeZone) : undefined],
      ['place', place === undefined ? undefined : shown(place)],
      ['ip', ipAddress],
      ['device', system === undefined ? browser : t('account.device_on', { browser, system })],
    ];
    return facts.flatMap(([name, value]) =>
      value === undefined || value === ''
        ? []
        : // A sentence of ours runs as its language does, a name as it begins.
          [
            {
              label: `mail.fact_${name}`,
              value,
              isOurs: name === 'time' || name === 'device',
              beside: name === 'account' && person !== undefined ? username : undefined,
            },
          ],
    );
  }

  return (template: MailTemplate, values: MailValues, languageTag, logo) =>
    render(
      template,
      languageTag,
      (language, t) => ({
        ...values,
        duration: (seconds: number) => duration(language, seconds),
        facts: factsOf(values, language, t),
        site: baseUrl,
        host: baseUrl.replace(/^https?:\/\//, ''),
      }),
      logo,
    );
}
