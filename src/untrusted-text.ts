// Which names and texts from outside are safe to pass on.

const prototypeKeys = new Set(['__proto__', 'constructor', 'prototype']);

/** Whether an object built from this key could reach into prototypes (CWE-1321). */
export const isPrototypeKey = (key: string): boolean => prototypeKeys.has(key);

/** Lone surrogates have no UTF-8 form, so two different texts would be stored as one; NUL ends strings in other software. */
export const isPlainText = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** @returns the sender's name, shortened and made printable, for an error message */
export const nameForMessage = (name: string): string => {
  const visible = name.toWellFormed().replace(/[^\x20-\x7e\u00a0-\uffff]/g, '�');
  return visible.length > 64 ? `${visible.slice(0, 64)}…` : visible;
};

/** @returns the text on one line, without what is invisible or turns the text around it, and cut */
export function printableText(text: string, maxLength: number): string {
  const visible = text
    .slice(0, maxLength + 1)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '�');
  return visible.length > maxLength ? `${visible.slice(0, maxLength).toWellFormed()}…` : visible;
}

/** Whether nothing of it is seen: spaces, fillers and other letters without a shape (U+2800 is a pattern of no dots). */
export const isBlank = (text: string): boolean =>
  text.replace(/[\s\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu, '') === '';
