// The types of settings: how a value from outside (API or store) becomes a typed one. A type contains its own check, so that
// the TypeScript type of a setting follows from its entry in schema.ts.
import { domainToASCII } from 'node:url';
import { isMailAddress } from '../model/mail-address.ts';
import { parseSmtpUrl } from '../model/smtp-url.ts';

export type SettingType = 'integer' | 'boolean' | 'choice' | 'text' | 'url' | 'color' | 'email';

export type Parsed<T> = { readonly value: T } | { readonly problem: string };

export interface SettingDefinition<T> {
  readonly type: SettingType;
  readonly default: T;
  /** The section of the Admin UI that shows it. */
  readonly group: string;
  readonly description: string;
  /** Allowed values of a choice. */
  readonly choices?: readonly string[];
  /** Bounds of an integer (inclusive), or of the length of a text in characters. */
  readonly min?: number;
  readonly max?: number;
  /** Write-only: responses never contain its value, and the store has it sealed. */
  readonly isSecret?: boolean;
  readonly parse: (value: unknown) => Parsed<T>;
}

interface Metadata {
  readonly group: string;
  readonly description: string;
}

export function integer(
  about: Metadata & { readonly default: number; readonly min: number; readonly max: number },
): SettingDefinition<number> {
  const problem = `Must be a whole number from ${about.min} to ${about.max}.`;
  return {
    ...about,
    type: 'integer',
    parse: (value) =>
      typeof value === 'number' && Number.isInteger(value) && value >= about.min && value <= about.max
        ? { value }
        : { problem },
  };
}

export function flag(about: Metadata & { readonly default: boolean }): SettingDefinition<boolean> {
  return {
    ...about,
    type: 'boolean',
    parse: (value) => (typeof value === 'boolean' ? { value } : { problem: 'Must be true or false.' }),
  };
}

export function choice<const T extends string>(
  about: Metadata & { readonly default: T; readonly choices: readonly T[] },
): SettingDefinition<T> {
  return {
    ...about,
    type: 'choice',
    parse(value) {
      const chosen = about.choices.find((known) => known === value);
      return chosen === undefined
        ? { problem: `Must be one of ${about.choices.join(', ')}.` }
        : { value: chosen };
    },
  };
}

// Texts appear in headers, mails and pages: no control characters, line breaks or bidirectional overrides (checklist R132).
const oneLine = /^[^\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]*$/u;

export function text(
  about: Metadata & {
    readonly default: string;
    readonly min: number;
    readonly max: number;
    readonly isSecret?: boolean;
  },
): SettingDefinition<string> {
  const problem = `Must be one line of ${about.min} to ${about.max} characters.`;
  return {
    ...about,
    type: 'text',
    parse: (value) => {
      if (typeof value !== 'string' || value.length > about.max * 4) return { problem };
      const trimmed = value.normalize('NFC').trim();
      const { length } = Array.from(trimmed);
      const isValid = length >= about.min && length <= about.max && oneLine.test(trimmed);
      return isValid ? { value: trimmed } : { problem };
    },
  };
}

const MAX_URL = 2048;

/** '' for none. Used in href, src and the page's CSP: http and https only, no credentials. */
export function url(about: Metadata & { readonly default: string }): SettingDefinition<string> {
  const problem =
    'Must be an http or https address without user name and password, special characters %-encoded, or empty.';
  return {
    ...about,
    type: 'url',
    max: MAX_URL,
    parse: (value) => {
      if (value === '') return { value };
      // The URL parser drops tabs and line breaks and rewrites backslashes, so check the text itself.
      if (typeof value !== 'string' || value.length > MAX_URL || !/^https?:\/\/[!-~]+$/i.test(value)) {
        return { problem };
      }
      if (/[\\"'<>`;,\s]/.test(value) || !URL.canParse(value)) return { problem };
      const parsed = new URL(value);
      return parsed.username === '' && parsed.password === '' ? { value } : { problem };
    },
  };
}

export function color(about: Metadata & { readonly default: string }): SettingDefinition<string> {
  return {
    ...about,
    type: 'color',
    parse: (value) =>
      typeof value === 'string' && /^#[0-9a-f]{6}$/i.test(value)
        ? { value: value.toLowerCase() }
        : { problem: 'Must be a colour such as #1f6f5c.' },
  };
}

const MAX_ORIGINS = 10;

const isOrigin = (text: string): boolean =>
  /^https:\/\/[!-)+-~]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;

/** '' for none. Secure web origins (RFC 6454 §6.1), exactly as browsers send them, separated by spaces. */
export function origins(about: Metadata & { readonly default: string }): SettingDefinition<string> {
  const problem = `Must be at most ${MAX_ORIGINS} origins such as https://example.net, separated by spaces, or empty.`;
  return {
    ...about,
    type: 'text',
    max: MAX_URL,
    parse: (value) => {
      if (typeof value !== 'string' || value.length > MAX_URL) return { problem };
      const named = value.split(/\s+/).filter(Boolean);
      return named.length <= MAX_ORIGINS && named.every(isOrigin) ? { value: named.join(' ') } : { problem };
    },
  };
}

const MAX_REALMS = 100;
const realmShape = /^[A-Za-z0-9_~-](?:[A-Za-z0-9._~-]{0,62}[A-Za-z0-9_~-])?$/;

/** Names in paths, separated by spaces; '' for none. Unreserved characters (RFC 3986 §2.3), so each has one spelling. */
export function realms(about: Metadata & { readonly default: string }): SettingDefinition<string> {
  const problem = `Must be at most ${MAX_REALMS} names of letters, digits, ".", "_", "~" and "-", separated by spaces, or empty.`;
  return {
    ...about,
    type: 'text',
    max: MAX_REALMS * 65,
    parse(value) {
      if (typeof value !== 'string' || value.length > MAX_REALMS * 65) return { problem };
      const names = [...new Set(value.split(/[\s,]+/).filter(Boolean))];
      const isValid = names.length <= MAX_REALMS && names.every((name) => realmShape.test(name));
      return isValid ? { value: names.join(' ') } : { problem };
    },
  };
}

/** '' for none. One plain address; the display name is the product's name. */
export function email(about: Metadata & { readonly default: string }): SettingDefinition<string> {
  return {
    ...about,
    type: 'email',
    parse: (value) =>
      value === '' || (typeof value === 'string' && isMailAddress(value))
        ? { value }
        : { problem: 'Must be one e-mail address such as no-reply@example.com, or empty.' },
  };
}

/** '' for none. May contain a password, so it is always secret. */
export function smtpUrl(about: Metadata & { readonly default: string }): SettingDefinition<string> {
  return {
    ...about,
    type: 'url',
    isSecret: true,
    parse: (value) =>
      value === '' || (typeof value === 'string' && parseSmtpUrl(value) !== undefined)
        ? { value }
        : {
            problem:
              'Must be like smtps://user:password@mail.example.com:465 (or smtp://, smtp+starttls://), special ' +
              'characters of user and password %-encoded, or empty.',
          },
  };
}

const MAX_DOMAINS = 10_000;
const domainShape = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** @returns in ASCII (IDNA) and lower case, or undefined when it is not a domain */
function parseDomain(typed: string): string | undefined {
  const [, star = '', name = ''] = /^(\*\.)?(.*)$/.exec(typed) ?? [];
  // domainToASCII drops tabs and decodes %-escapes.
  if (name === '' || /[\p{Cc}\p{Cf}\s%/\\?#:[\]@*]/u.test(name)) return undefined;
  const ascii = domainToASCII(name.normalize('NFKC'));
  return domainShape.test(ascii) ? `${star}${ascii}` : undefined;
}

/** Domains of e-mail addresses, separated by spaces; '' for none. `*.` in front: its subdomains. */
export function domains(about: Metadata & { readonly default: string }): SettingDefinition<string> {
  const problem = 'Must be domains such as example.com or *.example.com, separated by spaces or commas.';
  return {
    ...about,
    type: 'text',
    max: MAX_DOMAINS,
    parse(value) {
      if (typeof value !== 'string' || value.length > MAX_DOMAINS) return { problem };
      const names = value.split(/[\s,;]+/).filter((part) => part !== '');
      const parsed = names.map(parseDomain);
      return parsed.includes(undefined) ? { problem } : { value: [...new Set(parsed)].join(' ') };
    },
  };
}
