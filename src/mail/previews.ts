// Every mail with values as people get them, for an administrator who looks at what they look like. They are no one's.
import { type MailTemplate, mailRows } from '../model/mails.ts';
import type { Theme } from '../views/index.ts';
import type { MailValues, RenderedMail } from './templates.ts';
import type { MailTexts } from './texts.ts';
import { safeValues } from './values.ts';
import { createMailViews } from './views.ts';

/** A Monday, so that a picture of a mail is the same next week. */
const START = Date.UTC(2026, 4, 4, 12);
const DAY = 86_400_000;

const request: MailValues = {
  name: 'Ada Lovelace',
  username: 'ada.lovelace',
  ipAddress: '203.0.113.5',
  device: 'Firefox on Windows',
  timeZone: 'Europe/Berlin',
};

/** For one mail, as it goes into the outbox. */
export function sampleValues(name: MailTemplate, baseUrl: string): MailValues {
  const known: MailValues = {
    code: '314159',
    url: '/account',
    expiresSeconds: 1800,
    lockedSeconds: 900,
    codesLeft: 7,
    dueAt: START + 30 * DAY,
  };
  const { needs, sample } = mailRows[name];
  const values = { ...Object.fromEntries(needs.map((value) => [value, known[value] ?? ''])), ...sample };
  const all = { ...request, ...values, ...('url' in values && { url: `${baseUrl}${values.url}` }) };
  return safeValues(name, all, { baseUrl, at: START });
}

export function createMailPreviews({ baseUrl }: { readonly baseUrl: string }) {
  let theme: Theme | undefined;
  let own: MailTexts | undefined;
  const render = createMailViews({
    theme: () => {
      if (theme === undefined) throw new TypeError('a preview has a theme');
      return theme;
    },
    ownTexts: () => own,
    baseUrl,
    placeOf: () => 'Berlin',
  });
  return {
    render(mail: MailTemplate, language: string, shown: Theme, texts: MailTexts | undefined): RenderedMail {
      theme = shown;
      own = texts;
      return render(mail, sampleValues(mail, baseUrl), language, sizeOfLogo(shown));
    },
  };
}

/** As large as the attached picture is. */
function sizeOfLogo({ look }: Theme) {
  const [, width, height] = /-(\d{1,4})x(\d{1,4})$/.exec(look?.logo ?? '') ?? [];
  return width === undefined ? undefined : { width: Number(width), height: Number(height) };
}
