// An event as a sentence, by its row.
import { eventRow } from '../../../model/events/events.ts';
import { Phrase, type PhraseValue } from '../../../phrase.ts';

/** What is called by a word of this product ("Anonymous") is a Phrase. */
interface Names {
  readonly actor: PhraseValue;
  readonly target?: PhraseValue | undefined;
  readonly client?: PhraseValue | undefined;
}

/** @returns undefined for an event of a later version of this product */
export function sentenceOf(event: string, names: Names): Phrase | undefined {
  const values = new Map<string, PhraseValue | undefined>(Object.entries(names));
  const text = eventRow(event)?.sentence.replaceAll(/\[([^\]]*)\]/g, (_, part: string) => {
    const [, name = ''] = /\{(\w+)\}/.exec(part) ?? [];
    return values.get(name) === undefined ? '' : part;
  });
  if (text === undefined) return undefined;
  // What stands around the names, and these between: no name is ever read as a part of the sentence.
  const pieces = text.split(/\{(\w+)\}/);
  return new Phrase(
    pieces.filter((_, place) => place % 2 === 0),
    pieces.filter((_, place) => place % 2 === 1).map((name) => values.get(name) ?? ''),
  );
}
