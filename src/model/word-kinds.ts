// Names in one text, separated by spaces; '' for none.
import { domainToASCII } from 'node:url';
import { type PageText, phrase } from '../phrase.ts';
import type { Kind } from './kind.ts';
import { oneLine } from './text-kinds.ts';

interface Words {
  readonly maxLength: number;
  readonly maxWords?: number;
  readonly by: RegExp;
  /** Each once. */
  readonly isSet: boolean;
  readonly problem: PageText;
  /** @returns undefined for what is no such name */
  readonly read: (word: string) => string | undefined;
}

const words = ({ maxLength, maxWords = maxLength, by, isSet, problem, read }: Words): Kind<string> => ({
  schema: { type: 'string', pattern: oneLine, maxLength },
  control: 'line',
  problems: [problem],
  parse(given) {
    if (typeof given !== 'string' || given.length > maxLength) return { problem: String(problem) };
    const all = given.split(by).filter((word) => word !== '');
    const names = isSet ? [...new Set(all.map(read))] : all.map(read);
    return names.includes(undefined) || names.length > maxWords
      ? { problem: String(problem) }
      : { value: names.join(' ') };
  },
});

const MAX_ORIGINS = 10;

/** Secure web origins (RFC 6454 §6.1), exactly as browsers send them. */
export const origins = words({
  maxLength: 2048,
  maxWords: MAX_ORIGINS,
  by: /\s+/,
  isSet: false,
  problem: phrase`Must be at most ${MAX_ORIGINS} origins such as https://example.net, separated by spaces, or empty.`,
  read: (word) =>
    /^https:\/\/[!-)+-~]+$/.test(word) && URL.canParse(word) && new URL(word).origin === word
      ? word
      : undefined,
});

const MAX_REALMS = 100;

/** Names in paths. Unreserved characters (RFC 3986 §2.3), so each has one spelling. */
export const realms = words({
  maxLength: MAX_REALMS * 65,
  maxWords: MAX_REALMS,
  by: /[\s,]+/,
  isSet: true,
  problem: phrase`Must be at most ${MAX_REALMS} names of letters, digits, ".", "_", "~" and "-", separated by spaces, or empty.`,
  read: (word) => (/^[A-Za-z0-9_~-](?:[A-Za-z0-9._~-]{0,62}[A-Za-z0-9_~-])?$/.test(word) ? word : undefined),
});

const domainShape = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** @returns in ASCII (IDNA) and lower case, or undefined when it is not a domain */
function parseDomain(typed: string): string | undefined {
  const [, star = '', name = ''] = /^(\*\.)?(.*)$/.exec(typed) ?? [];
  // domainToASCII drops tabs and decodes %-escapes.
  if (name === '' || /[\p{Cc}\p{Cf}\s%/\\?#:[\]@*]/u.test(name)) return undefined;
  const ascii = domainToASCII(name.normalize('NFKC'));
  return domainShape.test(ascii) ? `${star}${ascii}` : undefined;
}

/** Domains of e-mail addresses. `*.` in front: its subdomains. */
export const domains = words({
  maxLength: 10_000,
  by: /[\s,;]+/,
  isSet: true,
  problem: 'Must be domains such as example.com or *.example.com, separated by spaces or commas.',
  read: parseDomain,
});

/** @param list as the settings store it @returns whether it names the domain: `*.example.com` every subdomain, `example.com` itself alone */
export const isListedDomain = (list: string, domain: string): boolean =>
  list
    .split(' ')
    .some((entry) =>
      entry.startsWith('*.') ? domain.endsWith(entry.slice(1)) : entry !== '' && domain === entry,
    );
