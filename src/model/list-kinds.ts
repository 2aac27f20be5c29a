// Lists, each entry of which is a text. In a form: an entry a line.
import { isTexts } from '../json.ts';
import { ours, type PageText } from '../phrase.ts';
import type { Kind } from './kind.ts';

const typed = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
const shown = (value: readonly string[]): string => value.join('\n');

interface List {
  readonly maxItems: number;
  readonly maxLength: number;
  readonly problem: PageText;
  /** Each once, in order. */
  readonly isSet?: boolean;
  /** @returns what is wrong with an entry, as a predicate (“must be an origin”) */
  readonly why?: (one: string) => string | undefined;
  /** All that `why` can say. */
  readonly whys?: readonly PageText[];
}

export const list = ({
  maxItems,
  maxLength,
  problem,
  isSet = false,
  why,
  whys = [],
}: List): Kind<readonly string[]> => ({
  schema: { type: 'array', maxItems, items: { type: 'string', maxLength } },
  control: 'lines',
  problems: [problem, ...whys],
  parse(given) {
    const isList =
      isTexts(given) && given.length <= maxItems && given.every(({ length }) => length <= maxLength);
    if (!isList) return { problem: String(problem) };
    for (const [at, one] of given.entries()) {
      const found = why?.(one);
      if (found !== undefined) return { problem: `Entry ${at + 1} ${ours(found)}.` };
    }
    return { value: isSet ? [...new Set(given)].sort() : given };
  },
  typed,
  shown,
});
