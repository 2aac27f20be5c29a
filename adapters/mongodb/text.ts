// Encodes text that MongoDB compares and sorts. BSON strings are UTF-8, which has no unpaired surrogates; and a compatible
// server that compares UTF-16 units instead of bytes sorts U+E000–U+FFFF after all supplementary characters. In this form
// both orders are the order of code points.

// An unassigned character below the surrogates; the digits after it stay below them too.
const MARK = '\ud7ff';
const FIRST = 0xd7ff;
const DIGIT_BITS = 12;
const DIGIT = 0xfff;
const ZERO = 0x1000;

/** Reversible, one-to-one, order-preserving, and the identity for text of characters below U+D7FF. */
export function encodeOrdered(text: string): string {
  if (typeof text !== 'string') throw new TypeError(`text is needed, not ${typeof text}`);
  // Without the `u` flag an unpaired surrogate and half of a pair would look the same.
  return text.replace(/[\ud7ff-\udfff\ue000-\uffff\u{10000}-\u{10ffff}]/gu, (character) => {
    const point = character.codePointAt(0) ?? FIRST;
    return MARK + String.fromCharCode(ZERO + (point >> DIGIT_BITS), ZERO + (point & DIGIT));
  });
}

/** The inverse of `encodeOrdered`. */
export function decodeOrdered(text: string): string {
  if (!text.includes(MARK)) return text;
  return text.replace(/\ud7ff(.)(.)/gs, (_, high: string, low: string) =>
    String.fromCodePoint(((high.charCodeAt(0) - ZERO) << DIGIT_BITS) + (low.charCodeAt(0) - ZERO)),
  );
}
