// Kinds of values that are no text of people: flags, numbers, choices, JSON, secrets. Texts are in text-kinds.ts, lists in
// list-kinds.ts, dates and places in time-kinds.ts, what mail needs in mail-kinds.ts.
import { type PageText, phrase } from '../phrase.ts';
import { type Kind, type Parsed, valid } from './kind.ts';

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

/**
 * @param words each value, with the words that pages have for it
 * @param reserved the values that administrators alone may set
 */
export function choice<const V extends string>(
  words: Readonly<Record<V, string>>,
  reserved: readonly NoInfer<V>[] = [],
): Kind<V> {
  const isOne = (given: unknown): given is V => typeof given === 'string' && Object.hasOwn(words, given);
  const problem = phrase`Must be one of ${Object.keys(words).join(', ')}.`;
  return {
    schema: { type: 'string', enum: Object.keys(words) },
    control: 'select',
    words,
    problems: [problem],
    parse: (given) => (isOne(given) ? { value: given } : { problem: String(problem) }),
    shown: (value) => words[value],
    reserved: (value) => reserved.filter((one) => one === value),
  };
}

/** @param read takes what is an object already; text of a form becomes one by the reader of JSON from outside */
export const json = <T extends object>(
  read: (given: unknown) => T | undefined,
  problem: string,
): Kind<T> => ({
  schema: { type: 'object' },
  control: 'json',
  problems: [problem],
  parse(given): Parsed<T> {
    const value = read(given);
    return value === undefined ? { problem } : { value };
  },
  shown: (value) => JSON.stringify(value, undefined, 2),
});

/** Never shown: what is stored of it, and how, its domain knows. */
export function secret(minLength: number, maxLength: number): Kind<string> {
  const problem = phrase`Must have ${minLength} to ${maxLength} characters.`;
  return {
    schema: { type: 'string', writeOnly: true, minLength, maxLength },
    control: 'secret',
    problems: [problem],
    parse: (given) => {
      const value = typeof given === 'string' ? given : '';
      const { length } = Array.from(value);
      return valid(length >= minLength && length <= maxLength, value, problem);
    },
    shown: () => '',
  };
}
