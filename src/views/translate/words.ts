// Which texts are words for people, and how a text is written as a key of the catalogue.

/** By the category of a number (Intl.PluralRules). */
export type Forms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>>>;
export type Translation = string | Forms;

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': '\u00a0',
};

export const decode = (html: string): string =>
  html.replace(/&(?:amp|lt|gt|quot|nbsp|#39);/g, (entity) => ENTITIES[entity] ?? entity);

/** For HTML in the source of a template: what starts an expression there is text, too. */
export const encode = (text: string): string =>
  text.replace(/[&<>"'{}#%]/g, (character) => `&#${character.charCodeAt(0)};`);

export const isWordy = (text: string): boolean => /\p{L}/u.test(text);

/** @returns the text between spaces, with these */
export const bare = (text: string): readonly [before: string, text: string, after: string] => {
  const [, before = '', inner = '', after = ''] = /^(\s*)([\s\S]*?)(\s*)$/.exec(text) ?? [];
  return [before, inner, after];
};

/** One space where the source has line breaks and more. No-break spaces stay. */
export const keyOf = (text: string): string => text.replace(/[ \t\r\n]+/g, ' ').trim();

/** Names of members, addresses, codes, attributes: `redirect_uris`, `/users/`, `autocomplete="off"`. */
const CODE =
  /^\S*[_/.:=#@$&?+*^\\|]\S*$|="|^\W*$|^[a-z]+[A-Z]\w*$|^&|^curl |^--?[\w-]+ |\$TOKEN|^Content-Type|charset=|^openid |^(?:sealed|trial)-|^[a-z_]+ (?:true|false|user)$/;

/** `{a}/branding/samples/{a}?scheme={a}`. */
export const isAddress = (text: string): boolean =>
  /^\s*\S*[/?=]\S*\s*$/.test(text) && /[/?&]\w|\w=/.test(text);

/** Whether a literal of an expression reads like a text: several words, or one with a capital. */
export function isText(literal: string): boolean {
  const text = literal.replace(/\{\w\}/g, '•').trim();
  if (/^APIs?$/.test(text)) return true;
  // Acronyms, names of headers and of types are the same in every language.
  if (!/\p{Ll}{2}/u.test(text) || CODE.test(text.replace(/[.:?…]$/, ''))) return false;
  return /\s/.test(text) || /^\p{Lu}[\p{Ll}’]*(?:-\p{Ll}+)?[.:?…]?$/u.test(text);
}
