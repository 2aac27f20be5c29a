// Whether two names look alike to people: case, marks, spaces and letters of other alphabets that look like Latin ones do not count.

const LOOKALIKES: Readonly<Record<string, string>> = {
  а: 'a',
  в: 'b',
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
  р: 'p',
  ԛ: 'q',
  ѕ: 's',
  т: 't',
  ѵ: 'v',
  ԝ: 'w',
  х: 'x',
  у: 'y',
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
  ı: 'l',
  '0': 'o',
  '1': 'l',
  i: 'l',
  '3': 'e',
  '5': 's',
};

const lookOf = (name: string): string =>
  [...name.normalize('NFKD').toLowerCase().normalize('NFKD')]
    .map((letter) => LOOKALIKES[letter] ?? letter)
    .map((letter) => LOOKALIKES[letter] ?? letter)
    .join('')
    // Some that nobody sees are letters to Unicode (U+3164).
    .replace(/[^\p{L}\p{N}]|\p{Default_Ignorable_Code_Point}/gu, '')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');

/** @returns whether the name is the other one to people; `isPart`: whether it contains it */
export function looksLike(name: string, other: string, isPart = false): boolean {
  const [one, two] = [lookOf(name), lookOf(other)];
  return two !== '' && (isPart ? one.includes(two) : one === two);
}
