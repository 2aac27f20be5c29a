// Parses a six-digit code as users type it: "123 456", a pasted line end, full-width or Arabic digits.

// Longer than any spelling of six digits; bounds the work on untrusted input.
const MAX_LENGTH = 64;

// The zeros of the digit blocks that keyboards of our languages produce and NFKC does not change (Unicode §22.3).
const zeros = [0x0660, 0x06f0];

function toAsciiDigit(digit: string): string {
  const codePoint = digit.codePointAt(0) ?? 0;
  const zero = zeros.find((start) => codePoint >= start && codePoint <= start + 9);
  return zero === undefined ? digit : String(codePoint - zero);
}

/** @returns exactly six ASCII digits, or undefined */
export function parseSixDigits(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  // NFKC replaces full-width digits and every kind of space with the plain ones.
  const plain = text
    .normalize('NFKC')
    .replace(/[\s-]/g, '')
    .replace(/\p{Nd}/gu, toAsciiDigit);
  return /^[0-9]{6}$/.test(plain) ? plain : undefined;
}
