// Kinds of values that are no text of people: flags, numbers, choices. Texts are in text-kinds.ts, lists in
// list-kinds.ts, dates and places in time-kinds.ts, what mail needs in mail-kinds.ts.
import { type PageText, phrase } from '../phrase.ts';
import { type Kind, valid } from './kind.ts';

export const flag: Kind<boolean> = {
  schema: { type: 'boolean' },
  control: 'check',
  words: { true: 'on', false: 'off' },
  problems: ['Must be true or false.'],
  parse: (given) => valid(typeof given === 'boolean', given === true, 'Must be true or false.'),
  typed: (text) => text === 'on',
  shown: (value) => (value ? 'on' : 'off'),
};

const number = (minimum: number, maximum: number, problem: PageText): Kind<number> => ({
  schema: { type: 'integer', minimum, maximum },
  control: 'number',
  problems: [problem],
  parse: (given) =>
    typeof given === 'number' && Number.isInteger(given) && given >= minimum && given <= maximum
      ? { value: given }
      : { problem: String(problem) },
  typed: (text) => (/^\d{1,15}$/.test(text) ? Number(text) : text),
});

export const integer = (minimum: number, maximum: number): Kind<number> =>
  number(minimum, maximum, phrase`Must be a whole number from ${minimum} to ${maximum}.`);

export const seconds = (minimum: number, maximum: number): Kind<number> =>
  number(minimum, maximum, phrase`Must be a whole number of seconds from ${minimum} to ${maximum}.`);

/** @param words each value, with the words that pages have for it */
export function choice<const V extends string>(words: Readonly<Record<V, string>>): Kind<V> {
  const isOne = (given: unknown): given is V => typeof given === 'string' && Object.hasOwn(words, given);
  const problem = phrase`Must be one of ${Object.keys(words).join(', ')}.`;
  return {
    schema: { type: 'string', enum: Object.keys(words) },
    control: 'select',
    words,
    problems: [problem],
    parse: (given) => (isOne(given) ? { value: given } : { problem: String(problem) }),
    shown: (value) => words[value],
  };
}
