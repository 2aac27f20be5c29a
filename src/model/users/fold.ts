// The canonical form of names, which uniqueness and sign-in compare. Two spellings that people read as the same name
// must have the same key, on every machine and in every locale.

// One code point at a time, so that no context rule (Greek final sigma) makes the key depend on its neighbours.
// Lower, upper, lower is Unicode's full folding in effect: ẞ -> ß -> SS -> ss; the dotless ı -> I -> i.
const foldCodePoint = (codePoint: string): string => codePoint.toLowerCase().toUpperCase().toLowerCase();

/**
 * NFKC, full case folding without a locale, NFKC again (folding can leave decomposed text), trim. Folding the Turkish
 * İ leaves a dot above the i, which is dropped, so that I, ı, İ and i are the same letter in every language. The
 * function is idempotent.
 */
export const fold = (text: string): string =>
  Array.from(text.normalize('NFKC'), foldCodePoint)
    .join('')
    .replace(/i\u0307+/g, 'i')
    .normalize('NFKC')
    .trim();

// Cc controls; Cs lone surrogates; Co private use and Cn unassigned code points, which have no agreed meaning; Cf and
// Default_Ignorable cover zero-width characters, bidi marks, fillers and variation selectors.
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}]/u;
const control = /[\p{Cc}\p{Cs}\u2028\u2029]/u;
const bidiOverride = /[\u202a-\u202e\u2066-\u2069]/u;

/** @returns whether the text has an invisible character, which would let two names look alike */
export const hasHiddenCharacter = (text: string): boolean => hidden.test(text);

/** @returns whether the text has a control character or one that changes the reading direction */
export const hasControlCharacter = (text: string): boolean => control.test(text) || bidiOverride.test(text);

/** @returns the number of code points, close to what a reader counts as characters */
export const lengthOf = (text: string): number => Array.from(text).length;
