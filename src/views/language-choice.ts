// The language that someone chose in this browser, in a cookie of their own: it says nothing about an account and has no
// authority, so it is neither signed nor sealed.
import { chooseLanguage, isLanguage, type Language, matchLanguage } from './strings.ts';

const NAME = 'latchkey_language';
const MAX_LIST = 200;

export const languageCookieName = (isSecure: boolean): string => `${isSecure ? '__Host-' : ''}${NAME}`;

/** @param cookies the request header */
export function chosenLanguage(cookies: string | undefined): Language | undefined {
  const [, tag = ''] = /(?:^|;\s*)(?:__Host-)?latchkey_language=([a-z]{2})(?:;|$)/.exec(cookies ?? '') ?? [];
  return isLanguage(tag) ? tag : undefined;
}

/** The language of a page: what its reader's account has, else what this browser chose, else what it asks for. */
export const languageOfPage = (request: { get(header: string): string }, own: string | undefined): Language =>
  matchLanguage(own) ??
  chosenLanguage(request.get('Cookie')) ??
  chooseLanguage(undefined, request.get('Accept-Language'));

/** What someone reads, as in Accept-Language: the chosen language first. For mails, which are written later. */
export function readLanguages(headers: {
  readonly cookie?: string | undefined;
  readonly 'accept-language'?: string | undefined;
}): string {
  const chosen = chosenLanguage(headers.cookie);
  const { 'accept-language': accepted = '' } = headers;
  return (chosen === undefined ? accepted : `${chosen},${accepted}`).slice(0, MAX_LIST);
}
