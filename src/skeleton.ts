// Whether two names look alike to people: case, marks, spaces and letters that look like others do not count. What UTS #39 §4 calls a
// skeleton, for the letters that words in Latin letters are imitated with.

const LOOKALIKES: Readonly<Record<string, string>> = {
  // Cyrillic
  а: 'a',
  в: 'b',
  г: 'r',
  с: 'c',
  ԁ: 'd',
  е: 'e',
  һ: 'h',
  і: 'i',
  ј: 'j',
  к: 'k',
  ӏ: 'l',
  м: 'm',
  н: 'h',
  о: 'o',
  п: 'n',
  р: 'p',
  ԛ: 'q',
  ѕ: 's',
  т: 't',
  ѵ: 'v',
  ԝ: 'w',
  х: 'x',
  у: 'y',
  ь: 'b',
  // Greek
  α: 'a',
  β: 'b',
  ε: 'e',
  η: 'n',
  ι: 'i',
  κ: 'k',
  ν: 'v',
  ο: 'o',
  ρ: 'p',
  τ: 't',
  υ: 'u',
  χ: 'x',
  // Armenian
  օ: 'o',
  ս: 'u',
  հ: 'h',
  ո: 'n',
  ց: 'g',
  յ: 'j',
  զ: 'q',
  // Latin: small capitals, letters of phonetics, and strokes that no decomposition takes away
  ᴀ: 'a',
  ɑ: 'a',
  ʙ: 'b',
  ƀ: 'b',
  ᴄ: 'c',
  ᴅ: 'd',
  ɗ: 'd',
  đ: 'd',
  ɖ: 'd',
  ᴇ: 'e',
  ƒ: 'f',
  ɡ: 'g',
  ɢ: 'g',
  ʜ: 'h',
  ħ: 'h',
  ɪ: 'i',
  ɨ: 'i',
  ɩ: 'i',
  ı: 'l',
  ᴊ: 'j',
  ȷ: 'j',
  ᴋ: 'k',
  ʟ: 'l',
  ł: 'l',
  ƚ: 'l',
  ɫ: 'l',
  ɭ: 'l',
  ᴍ: 'm',
  ɱ: 'm',
  ŋ: 'n',
  ɲ: 'n',
  ɳ: 'n',
  ƞ: 'n',
  ɴ: 'n',
  ᴏ: 'o',
  ø: 'o',
  ɵ: 'o',
  ᴘ: 'p',
  ʀ: 'r',
  ɾ: 'r',
  ɼ: 'r',
  ɽ: 'r',
  ʂ: 's',
  ƭ: 't',
  ʈ: 't',
  ʋ: 'v',
  ꜱ: 's',
  ᴛ: 't',
  ŧ: 't',
  ᴜ: 'u',
  ᴠ: 'v',
  ᴡ: 'w',
  ʏ: 'y',
  ᴢ: 'z',
  з: 'e',
  // Digits, and strokes that are a letter to the eye
  '|': 'l',
  ǀ: 'l',
  '∣': 'l',
  '❘': 'l',
  '0': 'o',
  '1': 'l',
  i: 'l',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
};

/** Letters in boxes and of flags, which no decomposition takes out, and marks that say nothing (UTS #51; Unicode 1F130-1F1FF). */
const asLetters = (name: string): string =>
  name
    .replace(/[™℠®©]/gu, '')
    .replace(/[\u{1f130}-\u{1f149}\u{1f150}-\u{1f169}\u{1f170}-\u{1f189}\u{1f1e6}-\u{1f1ff}]/gu, (boxed) => {
      const code = boxed.codePointAt(0) ?? 0;
      const first = [0x1f1e6, 0x1f170, 0x1f150, 0x1f130].find((start) => code >= start) ?? code;
      return String.fromCodePoint(0x61 + code - first);
    });

/** @returns what the names that look alike have in common; empty for a name without letters and digits */
export const skeletonOf = (name: string): string =>
  [...asLetters(name).normalize('NFKD').toLowerCase().normalize('NFKD')]
    .map((letter) => LOOKALIKES[letter] ?? letter)
    .map((letter) => LOOKALIKES[letter] ?? letter)
    .join('')
    // Some that nobody sees are letters to Unicode (U+3164), and so are apostrophes and other signs (U+02BC).
    .replace(/[^\p{L}\p{N}]|\p{Lm}|\p{Default_Ignorable_Code_Point}/gu, '')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');

/** @returns whether the name is the other one to people; `isPart`: whether it contains it */
export function looksLike(name: string, other: string, isPart = false): boolean {
  const [one, two] = [skeletonOf(name), skeletonOf(other)];
  return two !== '' && (isPart ? one.includes(two) : one === two);
}
