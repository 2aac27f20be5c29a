// The form of an application by its rows: what it has, its values as text, and what it says to the API; and the same as facts, for
// those who can only read it. A form names its fields, so that what it did not show stays as it is.
import { isDeepStrictEqual } from 'node:util';
import { type ApplicationFact, isOfKind } from '../../../model/applications/row.ts';
import { applicationRows } from '../../../model/applications/rows.ts';
import { boundsOf, durationFrom } from '../../pages/durations.ts';
import { linesOf, textOrNull, textsOf } from '../../pages/field-values.ts';
import type { Values } from '../../pages/page.ts';
import { templateOf } from './template-of.ts';

type Entry = readonly [name: string, row: ApplicationFact];
type TextIn = (name: string) => string | undefined;

const all: readonly Entry[] = Object.entries<ApplicationFact>(applicationRows).filter(
  ([, { form }]) => form !== null,
);

export const labels = Object.fromEntries(all.map(([name, { label }]) => [name, label]));

export const bounds = boundsOf(Object.fromEntries(all.filter(([, { kind }]) => kind.control === 'number')));

export const choicesOf = ({ kind: { words = {} } }: Pick<ApplicationFact, 'kind'>) =>
  Object.entries(words).map(([value, label]) => ({ value, label }));

/** @param hasLegacy whether it has the part for the legacy profile */
export const entriesOf = (client: Values, hasLegacy: boolean): readonly Entry[] =>
  all.filter(([, row]) => {
    const { form, only } = row;
    if (!isOfKind(row, client.kind)) return false;
    if (form === 'legacy' && !hasLegacy) return false;
    if (only === 'confidential' && client.client_type !== 'confidential') return false;
    // A machine's form has nothing about sign-ins, and nothing is signed of it but its access tokens.
    const isOfSignIns = only === 'sign_in' || form === 'sign_in' || form === 'signatures';
    return !isOfSignIns || templateOf(client) !== 'machine';
  });

/** A box for each of its words. */
const boxesOf = ([name, { kind }]: Entry): readonly (readonly [box: string, value: string])[] =>
  kind.control === 'lines' ? Object.keys(kind.words ?? {}).map((word) => [`${name}.${word}`, word]) : [];

/** What a form leaves out when it is not ticked. */
export const boxes: readonly string[] = all.flatMap((entry) =>
  entry[1].kind.control === 'check' ? [entry[0]] : boxesOf(entry).map(([box]) => box),
);

/** Its fields by the parts of the form, in the order of their rows. */
export function partsOf(entries: readonly Entry[]) {
  const fields = entries.map(([name, row]) => {
    const { form, label, hint, kind, example } = row;
    const [sample = ''] = textsOf(example);
    const boxes = boxesOf([name, row]).map(([box, word]) => ({ name: box, label: kind.words?.[word] }));
    return {
      form,
      name,
      label,
      hint: hint ?? '',
      control: kind.control,
      sample,
      boxes,
      choices: choicesOf(row),
    };
  });
  const part = (one: ApplicationFact['form']) => fields.filter(({ form }) => form === one);
  return {
    main: part('main'),
    sign_in: part('sign_in'),
    pages: part('pages'),
    signatures: part('signatures'),
    legacy: part('legacy'),
  };
}

function textOf({ kind }: ApplicationFact, value: unknown): string {
  if (kind.control === 'check') return isDeepStrictEqual(kind.typed?.('on'), value) ? 'on' : '';
  if (Array.isArray(value)) return value.join('\n');
  const [usual = ''] = Object.keys(kind.words ?? {});
  return String(value ?? usual);
}

/** The values of the form, one text per field. */
export const valuesOf = (client: Values, entries: readonly Entry[]): Values => ({
  ...Object.fromEntries(all.map(([name, row]) => [name, textOf(row, client[name])])),
  ...Object.fromEntries(
    all.flatMap((entry) => {
      const value = client[entry[0]];
      return boxesOf(entry).map(([box, word]) => [
        box,
        Array.isArray(value) && value.includes(word) ? 'on' : '',
      ]);
    }),
  ),
  fields: entries.map(([name]) => name).join(' '),
});

function givenBy(entry: Entry, textIn: TextIn): unknown {
  const [name, { kind, absent }] = entry;
  const boxes = boxesOf(entry);
  if (boxes.length > 0) return boxes.filter(([box]) => textIn(box) === 'on').map(([, word]) => word);
  if (kind.control === 'check') return kind.typed?.(textIn(name) ?? '');
  if (kind.control === 'number') return durationFrom(textIn, name);
  if (kind.control !== 'lines') return textOrNull(textIn(name));
  const lines = linesOf(textIn(name));
  return lines.length === 0 && !Array.isArray(absent) ? null : lines;
}

/** Converts the form's values to the API's: those that it names. */
export function bodyOf(textIn: TextIn): Values {
  const named = (textIn('fields') ?? '').split(' ');
  const own = all.filter(([name]) => named.includes(name));
  return Object.fromEntries(own.map((entry) => [entry[0], givenBy(entry, textIn)]));
}

/** What is set, each in words, in seconds, or as it is. */
export const factsOf = (client: Values, entries: readonly Entry[]) =>
  entries.flatMap((entry) => {
    const [name, row] = entry;
    const { kind, absent, label } = row;
    const value = client[name];
    const hasBoxes = boxesOf(entry).length > 0;
    const listed: readonly unknown[] = Array.isArray(value) ? value : [];
    const text = hasBoxes
      ? listed.filter((one) => Object.hasOwn(kind.words ?? {}, String(one))).join('\n')
      : textOf(row, value);
    if (text === '' || (kind.control !== 'check' && isDeepStrictEqual(value, absent))) return [];
    const { words } = kind;
    const lines = text.split('\n').map((one) => words?.[one] ?? one);
    return [{ label, control: kind.control, lines, isInWords: words !== undefined }];
  });
