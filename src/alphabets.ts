// Which letters are written together: a name that mixes others, or has letters that are hardly in use, imitates another name by the
// thousands of them that look like Latin ones (UTS #39 §5.2, §5.3).

/** UAX #31 Table 5, recommended scripts. */
const SCRIPTS = [
  ...['Arabic', 'Armenian', 'Bengali', 'Cyrillic', 'Devanagari', 'Ethiopic', 'Georgian', 'Greek', 'Gujarati'],
  ...['Gurmukhi', 'Hebrew', 'Kannada', 'Khmer', 'Lao', 'Latin', 'Malayalam', 'Myanmar', 'Oriya', 'Sinhala'],
  ...['Tamil', 'Telugu', 'Thaana', 'Thai', 'Tibetan'],
];
/** What is written together: Japanese, Chinese with Bopomofo, Korean, each with Latin letters. */
const TOGETHER = [
  ['Latin', 'Han', 'Hiragana', 'Katakana'],
  ['Latin', 'Han', 'Bopomofo'],
  ['Latin', 'Han', 'Hangul'],
];

const alphabets = [...SCRIPTS.map((script) => [script]), ...TOGETHER].map(
  (scripts) =>
    new RegExp(`^[${['Common', 'Inherited', ...scripts].map((name) => `\\p{scx=${name}}`).join('')}]*$`, 'u'),
);

const isDigit = (letter: string): boolean => /^\p{Nd}$/u.test(letter);

/** The zero of a digit's system: digits of one are ten in a row (UAX #44, General_Category Nd). */
function zeroOf(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  const below = Array.from({ length: 10 }, (_, value) => value).find(
    (value) => !isDigit(String.fromCodePoint(code - value - 1)),
  );
  return code - (below ?? 0);
}

/** UTS #39 §5.2 "highly restrictive", and §5.3: letters that are written together, and digits of one system. */
export function isOneAlphabet(name: string): boolean {
  const systems = new Set(Array.from(name).filter(isDigit).map(zeroOf));
  return systems.size <= 1 && alphabets.some((letters) => letters.test(name));
}

/** Word by word, for names of several words. */
export const isOneAlphabetByWord = (name: string): boolean =>
  name.split(/[^\p{L}\p{M}\p{N}]+/u).every(isOneAlphabet);
