// Texts with values in them, for the catalogues of the Admin UI (docs/decisions/0036-admin-languages.md). In English, in JSON, in
// logs and in attributes they are the plain text.

/** A name that somebody gave is a string. What is a text of ours itself is a Phrase. */
export type PhraseValue = string | number | Phrase;

/** Text that a page shows. */
export type PageText = string | Phrase;

/** A text whose values are known apart from it, so that no name in it can be taken for a text of ours or for a part of one. */
export class Phrase {
  readonly #pieces: readonly string[];
  readonly values: readonly PhraseValue[];

  /** @param pieces what stands around the values: one more than these */
  constructor(pieces: readonly string[], values: readonly PhraseValue[] = []) {
    this.#pieces = pieces;
    this.values = values;
  }

  /** @returns such as `Delete the group {a}?`, the key in the catalogues */
  get key(): string {
    return this.#fill((_, place) => `{${String.fromCharCode(97 + place)}}`);
  }

  toString(): string {
    return this.#fill(String);
  }

  toJSON(): string {
    return this.toString();
  }

  #fill(write: (value: PhraseValue, place: number) => string): string {
    const [first = '', ...rest] = this.#pieces;
    return rest.reduce((text, piece, place) => text + write(this.values[place] ?? '', place) + piece, first);
  }
}

/** phrase`Delete the group ${label}?` */
export const phrase = (pieces: TemplateStringsArray, ...values: readonly PhraseValue[]): Phrase =>
  new Phrase(pieces, values);

/** A name alone, where it stands without an element of its own: in an attribute, between other words. */
export const named = (name: string): Phrase => new Phrase(['', ''], [name]);

/** The same in templates: `'Remove from {a}' | about(group.label)`. */
export const about = (text: string, ...values: readonly PhraseValue[]): Phrase =>
  new Phrase(text.split(/\{[a-z]\}/), values);

/**
 * Says of a value in a plain text that it is a text of ours, which is translated on its own: `{A}` in the keys of the catalogues
 * (scripts/admin-texts). Every other value stays as it is.
 */
export const ours = (text: string): string => text;
