// Encodes text for databases that store UTF-8, which has no unpaired surrogates: unencoded, two different ids would both
// become U+FFFD and clash. JSON values need no encoding: JSON.stringify escapes unpaired surrogates.

// U+10FFFE is a noncharacter that no text carries; U+10D800–U+10DFFF are private use, one for each surrogate.
const ESCAPE = '\u{10FFFE}';
const PLANE_16 = 0x100000;

/** Reversible, one-to-one, and the identity for all well-formed text without U+10FFFE. */
export function encodeText(text: string): string {
  if (text.isWellFormed() && !text.includes(ESCAPE)) return text;
  return text.replace(/[\ud800-\udfff]|\u{10FFFE}/gu, (unit) =>
    unit === ESCAPE ? ESCAPE + ESCAPE : ESCAPE + String.fromCodePoint(PLANE_16 + unit.charCodeAt(0)),
  );
}

/** The inverse of `encodeText`. */
export function decodeText(text: string): string {
  if (!text.includes(ESCAPE)) return text;
  return text.replace(/\u{10FFFE}(.)/gsu, (_, escaped: string) =>
    escaped === ESCAPE ? ESCAPE : String.fromCharCode((escaped.codePointAt(0) ?? PLANE_16) - PLANE_16),
  );
}
