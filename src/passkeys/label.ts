// Names of passkeys: one short line without control or format characters, which could reverse the text around it.

const MAX_LABEL = 60;

/** @returns undefined for an empty name */
export function labelOf(text: string | undefined): string | undefined {
  const plain = (text ?? '')
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return plain === '' ? undefined : Array.from(plain).slice(0, MAX_LABEL).join('');
}
