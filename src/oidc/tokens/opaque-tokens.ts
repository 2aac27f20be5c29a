// The form of opaque access tokens (decision 0026, `access_token_format`). What is stored is the `jti` alone, which introspection
// and administrators can see, so the value also has a MAC: whoever reads the store or a `jti` has no token.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { derivedKey } from '../../config/secret-key.ts';

export type TokenKind = 'AccessToken' | 'ClientCredentials';

export interface OpaqueTokens {
  issue(kind: TokenKind, jti: string): string;
  /** @returns undefined for anything that this server did not issue */
  read(value: string): { readonly kind: TokenKind; readonly jti: string } | undefined;
}

const LETTERS: Readonly<Record<TokenKind, string>> = { AccessToken: 'a', ClientCredentials: 'c' };
const VALUE = /^lk([ac])_([\w-]{1,200})\.([\w-]{43})$/;

/** @param secretKeys SECRET_KEY: the newest signs, all that are listed verify */
export function createOpaqueTokens(secretKeys: readonly string[]): OpaqueTokens {
  const keys = secretKeys.map((key) => Buffer.from(derivedKey(key, 'opaque-access-token'), 'base64url'));
  const macOf = (key: Buffer, head: string): string =>
    createHmac('sha256', key).update(head).digest('base64url');
  const [current] = keys;
  if (current === undefined) throw new TypeError('there is no secret key');

  return {
    issue(kind, jti) {
      const head = `lk${LETTERS[kind]}_${jti}`;
      return `${head}.${macOf(current, head)}`;
    },

    read(value) {
      const [, letter, jti, mac] = VALUE.exec(value) ?? [];
      if (jti === undefined || mac === undefined) return undefined;
      const head = `lk${letter}_${jti}`;
      const isOurs = keys.some((key) => timingSafeEqual(Buffer.from(macOf(key, head)), Buffer.from(mac)));
      return isOurs ? { kind: letter === 'a' ? 'AccessToken' : 'ClientCredentials', jti } : undefined;
    },
  };
}
