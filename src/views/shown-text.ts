// How values are shown: cut, escaped, with places where they may break.
import { Phrase } from '../phrase.ts';

/** Bounds error texts on a page. */
const MAX_TEXT = 600;

export const shortened = (value: unknown): Phrase | string => {
  const text = String(value);
  return value instanceof Phrase && text.length <= MAX_TEXT ? value : text.slice(0, MAX_TEXT);
};

/** Such as 1:05. */
export const countdown = (value: number): string => {
  const seconds = Math.max(0, Math.ceil(value));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
};

export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** Longer addresses may not fit on a line of a phone. */
const LONG = 20;
/** Shorter names fit on a line of a phone, so that nothing is gained by breaking them. */
const LONG_NAME = 28;
export const isLongName = (name: string): boolean => name.length > LONG_NAME;

/**
 * An address or the name of a scope breaks between its parts, and within a word only where that is not enough: before a dot,
 * which at the end of a line would end a sentence.
 */
export const withBreaks = (html: string): string =>
  html.length > LONG && /^\S+[./@:_]\S+$/.test(html)
    ? html.replace(/(?<=[^./@])[.@](?=[^./@])/g, '<wbr>$&').replace(/[/:_]+(?=.)/g, '$&<wbr>')
    : html;
