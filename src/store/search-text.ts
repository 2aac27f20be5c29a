// The form in which people's names are searched: without case, accents and vowel points, in every script. It matches more than the
// key of a name (src/model/users/fold.ts), which decides who is who: here "Zoe" finds Zoë, and أحمد is found as احمد.
import type { AccountRecord, AuditRecord, Profile } from './records.ts';

/** The person's name, or its parts put together; undefined where the profile has neither. */
export const profileName = ({ name, given_name, family_name }: Profile): string | undefined =>
  name ?? ([given_name, family_name].filter((part) => part !== undefined).join(' ') || undefined);

/** Marks above, below and through letters: Latin, Greek, Cyrillic, Hebrew, Arabic. Not those of India, which are vowels. */
const marks = /[\p{M}&&[\u0300-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]]|\u0640/gv;
/** Invisible characters, and apostrophes: O’Brien is typed in four ways. */
const ignored = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}'’ʼʻ`]/gu;
/** Letters that Unicode does not decompose, or that are typed for each other. */
const letters: Readonly<Record<string, string>> = {
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ħ: 'h',
  ŧ: 't',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  ð: 'd',
  ς: 'σ',
  ى: 'ي',
  ی: 'ي',
  ئ: 'ي',
  ک: 'ك',
  ة: 'ه',
  ٱ: 'ا',
};
const exchanged = new RegExp(`[${Object.keys(letters).join('')}]`, 'g');
const katakana = /[\u30a1-\u30f6]/g;
const KANA_DISTANCE = 0x60;

/** @returns the text to compare: what people read as the same letters is the same. Idempotent. */
export function foldForSearch(text: string): string {
  if (/^[ -&(-_a-~]*$/.test(text)) return text.toLowerCase();
  return (
    text
      .replace(/\s+/gu, ' ')
      .normalize('NFKD')
      .replace(ignored, '')
      .replace(marks, '')
      // Lower, upper, lower is full case folding in effect: ẞ, ß, ss.
      .toLowerCase()
      .toUpperCase()
      .toLowerCase()
      .replace(marks, '')
      // Syllables of Korean, and the voicing of kana, which tells words apart.
      .normalize('NFC')
      .replace(exchanged, (letter) => letters[letter] ?? letter)
      .replace(katakana, (kana) => String.fromCharCode(kana.charCodeAt(0) - KANA_DISTANCE))
  );
}

/** Two characters of one script are a whole name there. */
const ideograph = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Hangul}]/gu;
const PAD = '\u0002\u0002';

/** Stores index three characters in a row (adapters/sqlite/search.ts): a padded ideograph is three by itself. */
const padded = (word: string): string => word.replace(ideograph, (character) => character + PAD);

const wordsOf = (text: string): string[] => [...new Set(foldForSearch(text).split(' '))].filter(Boolean);

// More words than this no longer narrow the result.
const MAX_WORDS = 8;

/** @returns what a document's text has to contain, each of them, to match what was typed */
export function searchWords(typed: string): string[] {
  const words = wordsOf(typed).slice(0, MAX_WORDS).map(padded);
  // Nothing but marks or invisible characters is in no text: it must not find everything.
  return words.length === 0 && typed.trim() !== '' ? [typed.trim()] : words;
}

/** @returns the text of a document in which `searchWords` are looked for: each word once, also as a part of another */
export function searchedText(texts: readonly (string | undefined)[]): string | undefined {
  const words = [...new Set(texts.flatMap((text) => (text === undefined ? [] : wordsOf(text))))];
  const whole = words.filter((word) => !words.some((other) => other !== word && other.includes(word)));
  return whole.length === 0 ? undefined : whole.map(padded).join(' ');
}

/** The order of a list by name. */
export const orderOfName = ({ profile, username }: AccountRecord): string =>
  foldForSearch(profileName(profile) ?? username);

/** Everything that a person may be called by, to be searched. */
export const namesOf = ({ profile, otherEmails = [], ...account }: AccountRecord): string | undefined => {
  const { name, given_name, family_name, middle_name, nickname } = profile;
  const called = [name, given_name, family_name, middle_name, nickname];
  const { username, usernameKey, email, emailKey } = account;
  const others = otherEmails.flatMap(({ address, key }) => [address, key]);
  return searchedText([username, usernameKey, email, emailKey, ...others, ...called]);
};

const MAX_DETAILS = 40;
const MAX_DETAIL = 120;

/** The texts anywhere in the details of an event. */
function textsIn(value: unknown, found: string[] = []): string[] {
  if (found.length >= MAX_DETAILS) return found;
  if (typeof value === 'string') found.push(value.slice(0, MAX_DETAIL));
  else if (typeof value === 'object' && value !== null)
    for (const part of Object.values(value)) textsIn(part, found);
  return found;
}

/** What an event of the audit log is searched by. */
export const eventText = (event: AuditRecord): string | undefined =>
  searchedText([
    event.event.replaceAll(/[._]/g, ' '),
    event.event,
    event.reason?.replaceAll('_', ' '),
    event.ipAddress,
    event.actorId,
    event.targetId,
    event.clientId,
    event.requestId,
    event.sessionId,
    ...textsIn(event.details),
  ]);
