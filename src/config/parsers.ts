// Parsers of environment values. Each throws Invalid with what is wrong and how to fix it, without quoting secrets, because
// the message is printed and logged.
import { parseSmtpUrl } from '../model/smtp-url.ts';
import { isLoopbackHost } from '../model/uris.ts';

/** The message says what is wrong with the value and how to fix it. */
export class Invalid extends Error {
  override readonly name = 'Invalid';
}

export type Parser<T> = (value: string) => T;

const quoted = (value: string): string =>
  JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);

export const text: Parser<string> = (value) => value;

/** @returns a parser of whole decimal numbers from `min` to `max` */
export const integer =
  (min: number, max: number): Parser<number> =>
  (value) => {
    const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= min && number <= max)) {
      throw new Invalid(`${quoted(value)} is not an integer from ${min} to ${max}.`);
    }
    return number;
  };

/** @returns a parser that takes exactly the given words, in any case */
export const oneOf =
  <T extends string>(words: readonly T[]): Parser<T> =>
  (value) => {
    const word = words.find((candidate) => candidate === value.toLowerCase());
    if (word === undefined) throw new Invalid(`${quoted(value)} is unknown. Use one of ${words.join(', ')}.`);
    return word;
  };

const webAddress = (value: string): URL => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !/^https?:\/\//i.test(value)) {
    throw new Invalid(`${quoted(value)} is not an address like https://id.example.com.`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new Invalid('an address must not carry a user name or password.');
  }
  if (/[?#]/.test(value)) throw new Invalid(`${quoted(value)} must not have a query (?) or fragment (#).`);
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname)) {
    throw new Invalid(
      `${quoted(value)} is plain http on a host that others can reach, so passwords and tokens would travel in ` +
        'clear. Use https (a TLS proxy in front and TRUST_PROXY=1), or http://localhost for a trial run.',
    );
  }
  return url;
};

/** The public address: normalised, without a trailing slash. */
export const baseUrl: Parser<string> = (value) => {
  const url = webAddress(value);
  return url.origin + url.pathname.replace(/\/+$/, '');
};

/** The issuer is kept as written: clients compare it byte by byte (OIDC Discovery §4.3). */
export const issuer: Parser<string> = (value) => {
  webAddress(value);
  return value;
};

/** @returns a parser of secrets of printable ASCII without spaces (they travel in headers), `min` characters or more */
export const secret =
  (min: number): Parser<string> =>
  (value) => {
    if (value.length < min) {
      throw new Invalid(
        `has ${value.length} characters, ${min} are needed. Create one with: openssl rand -hex 32`,
      );
    }
    if (!/^[\x21-\x7e]+$/.test(value)) throw new Invalid('may contain only printable ASCII without spaces.');
    return value;
  };

/** @returns a parser of a comma list of secrets, newest first */
export const secretList = (min: number): Parser<readonly string[]> => {
  const one = secret(min);
  return (value) => {
    const keys = value.split(',').map((key) => key.trim());
    keys.forEach((key, index) => {
      try {
        one(key);
      } catch (error) {
        if (!(error instanceof Invalid)) throw error;
        throw new Invalid(`key ${index + 1} of ${keys.length} ${error.message}`);
      }
    });
    if (new Set(keys).size !== keys.length) throw new Invalid('the same key is listed twice.');
    return keys;
  };
};

const certificatePin = (value: string): string => {
  const digest = /^sha256:((?:[\da-f]{2}:?){31}[\da-f]{2})$/i.exec(value)?.[1];
  if (digest !== undefined) return digest.replaceAll(':', '').toLowerCase();
  throw new Invalid(
    `${quoted(value)} is neither on, off nor a certificate like sha256:… with 64 hexadecimal digits, as ` +
      'openssl x509 -noout -fingerprint -sha256 prints them.',
  );
};

/** How a certificate is verified: `on`, `off`, or a comma list of SHA-256 digests of the certificates themselves. */
export const tlsVerification: Parser<'on' | 'off' | readonly string[]> = (value) => {
  const word = value.toLowerCase();
  return word === 'on' || word === 'off' ? word : value.split(/[,\s]+/).map(certificatePin);
};

/** @returns a parser of text between `min` and `max` characters; the value is not quoted (it may be a password) */
export const sized =
  (min: number, max: number): Parser<string> =>
  (value) => {
    const length = [...value].length;
    if (length < min || length > max) {
      throw new Invalid(`has ${length} characters, ${min} to ${max} are needed.`);
    }
    return value;
  };

export const email: Parser<string> = (value) => {
  const [local = '', domain = '', ...rest] = value.split('@');
  if (local === '' || domain === '' || rest.length > 0 || value.length > 254 || /[\s<>,;"]/.test(value)) {
    throw new Invalid(`${quoted(value)} is not an e-mail address.`);
  }
  return value;
};

/** A mail server's address; kept as written. */
export const mailServer: Parser<string> = (value) => {
  if (parseSmtpUrl(value) === undefined) {
    throw new Invalid(
      'it is not an address like smtps://user:password@mail.example.com:465 (or smtp://, smtp+starttls://). ' +
        'Special characters in the user name and the password must be %-escaped.',
    );
  }
  return value;
};
