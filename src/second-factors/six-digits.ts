// Reading a six-digit code as people type it: "123 456", a pasted line end, full-width or Arabic digits.

// Longer than any way to write six digits; bounds the work on what a stranger sends.
const MAX_LENGTH = 64;

// The blocks of digits that keyboards of our languages type and NFKC leaves alone (Unicode §22.3): their zeros.
const zeros = [0x0660, 0x06f0];

function toAsciiDigit(digit: string): string {
  const codePoint = digit.codePointAt(0) ?? 0;
  const zero = zeros.find((start) => codePoint >= start && codePoint <= start + 9);
  return zero === undefined ? digit : String(codePoint - zero);
}

/** @returns exactly six ASCII digits, or undefined when that is not what it says */
export function parseSixDigits(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  // NFKC turns full-width digits and every kind of blank into the plain ones.
  const plain = text
    .normalize('NFKC')
    .replace(/[\s-]/g, '')
    .replace(/\p{Nd}/gu, toAsciiDigit);
  return /^[0-9]{6}$/.test(plain) ? plain : undefined;
}
