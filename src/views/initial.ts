const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/**
 * One rule for all scripts: the first letter, digit or picture as a reader counts them (Unicode UAX #29), so that no accent,
 * vowel sign or part of an emoji is lost; in capitals where the script has them.
 */
export function initialOf(value: unknown): string {
  // A name can be as long as its owner likes.
  const parts = [...graphemes.segment(String(value).slice(0, 64))].map(({ segment }) => segment);
  const first = parts.find((part) => /[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(part)) ?? '·';
  const [capital = first] = [...graphemes.segment(first.toUpperCase())].map(({ segment }) => segment);
  return capital;
}
