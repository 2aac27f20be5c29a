// What people may call a passkey: one short line, nothing that could turn a page around it.

const MAX_LABEL = 60;

/** @returns undefined for no name */
export function labelOf(text: string | undefined): string | undefined {
  const plain = (text ?? '')
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return plain === '' ? undefined : Array.from(plain).slice(0, MAX_LABEL).join('');
}
