// Texts that stand in tables or are made of others: messages of errors, descriptions of settings, labels and sentences
// of events; and words too small to be told from a code where they stand.
import { sections } from '../../src/admin/guides/list.ts';
import { sentence } from '../../src/admin/resources/settings/words.ts';
import { errorRows } from '../../src/model/errors/errors.ts';
import { eventRows } from '../../src/model/events/events.ts';
import { mailRows } from '../../src/model/mails.ts';
import { refusalRows } from '../../src/model/refusals/refusals.ts';
import { settingKeys, settingRow } from '../../src/model/settings/settings.ts';
import type { UserFacts } from '../../src/model/users/facts.ts';
import { importedRows } from '../../src/model/users/imported-rows.ts';
import { userRows } from '../../src/model/users/rows.ts';
import { AMR_WORDS, WAYS, waysToSignIn } from '../../src/model/ways-to-sign-in.ts';
import type { Found } from './sources.ts';

/** Every way to say it: what stands in brackets is there or not. */
function variantsOf(text: string): string[] {
  const whole = /\[([^\]]*)\]/.exec(text);
  if (whole === null) return [text];
  const [brackets, inner = ''] = whole;
  return ['', inner].flatMap((one) => variantsOf(text.replace(brackets, () => one)));
}

function lettered(text: string): string {
  let number = 0;
  return text.replace(/\{\w+\}/g, () => {
    number += 1;
    return `{${String.fromCharCode(96 + number)}}`;
  });
}

const SMALL = [
  ...['seconds', 'minutes', 'hours', 'days', 'characters', 'verified', 'user', 'users'],
  ...['admin', 'auditor', 'confidential', 'public', 'never', 'none', 'on', 'off', 'On'],
  // Of lists, with the number of them: "1–50 of 120 sessions".
  ...['agents', 'APIs', 'applications', 'e-mails', 'events', 'groups', 'invitations', 'keys', 'members'],
  ...['sessions', 'tokens'],
  'succeeded',
];

export function derivedTexts(): Found[] {
  const settings = settingKeys.flatMap((key) => {
    const { group, description, withoutMail } = settingRow(key);
    return [group, sentence({ key, description }), ...(withoutMail === undefined ? [] : [withoutMail.says])];
  });
  const events = Object.values(eventRows).map(({ label }) => label);
  const told = Object.values(eventRows)
    .flatMap((row) => variantsOf(row.sentence))
    .map(lettered);
  // Two of them whole, so that each language joins them in its own way.
  const behind = WAYS.filter(({ step }) => step !== 'first').map(({ label }) => label);
  const ways = [
    ...Object.values(AMR_WORDS).filter(Boolean),
    ...WAYS.map(({ label }) => label),
    ...behind.map((label) => `${waysToSignIn.password.label} and ${label}`),
  ];
  // Guides by what an application is; the others have the names of products.
  const kinds = ['Svelte and SvelteKit', 'Service', 'Device', 'MCP client'];
  const guides = [...sections.map(({ title }) => title), ...kinds, 'Run here', 'Parsed', 'From the manual'];
  return [
    ...Object.values(mailRows).map(({ title }) => ({ text: title, at: 'src/model/mails.ts' })),
    ...guides.map((text) => ({ text, at: 'src/admin/guides' })),
    ...Object.values(errorRows).map(({ message }) => ({ text: message, at: 'src/model/errors' })),
    ...refusalRows.flatMap(({ words, remedy }) =>
      [words, remedy].map((text) => ({ text, at: 'src/model/refusals' })),
    ),
    ...[...Object.values<UserFacts>(userRows), ...Object.values<UserFacts>(importedRows)]
      .flatMap(({ column, claim }) => [column?.label, claim?.meaning])
      .filter((text) => text !== undefined)
      .map((text) => ({ text, at: 'src/model/users' })),
    ...settings.map((text) => ({ text, at: 'src/model/settings' })),
    ...events.map((text) => ({ text, at: 'src/model/events' })),
    ...told.map((text) => ({ text, at: 'src/model/events' })),
    ...ways.map((text) => ({ text, at: 'src/model/ways-to-sign-in.ts' })),
    ...SMALL.map((text) => ({ text, at: 'small words' })),
  ];
}
