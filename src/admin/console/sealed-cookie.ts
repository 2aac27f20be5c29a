// Signed cookies: a value, its expiry, and a MAC over both and the cookie's name, so that only this server can create them.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type Koa from 'koa';
import type { Clock } from '../../clock.ts';
import { parseJson } from '../../json.ts';

export interface SealedCookie<T> {
  /** @returns undefined when there is none, or it is expired or not authentic */
  read(ctx: Koa.Context): T | undefined;
  write(ctx: Koa.Context, value: T, seconds: number): void;
  clear(ctx: Koa.Context): void;
}

interface Options<T> {
  /** Without its prefix. */
  readonly name: string;
  /** Newest first: keys[0] signs, all verify. */
  readonly keys: readonly string[];
  readonly isSecure: boolean;
  /** The path of BASE_URL; for https the `__Host-` prefix requires `/` instead. */
  readonly path: string;
  readonly sameSite: 'lax' | 'strict';
  readonly clock: Clock;
  readonly isValid: (value: unknown) => value is T;
}

const MAX_LENGTH = 4096;

export function createSealedCookie<T>(options: Options<T>): SealedCookie<T> {
  const { keys, isSecure, sameSite, clock, isValid } = options;
  const name = `${isSecure ? '__Host-' : ''}${options.name}`;
  const attributes = {
    httpOnly: true,
    secure: isSecure,
    sameSite,
    path: isSecure ? '/' : options.path,
    signed: false,
    overwrite: true,
  } as const;
  const mac = (key: string, text: string): Buffer =>
    createHmac('sha256', key).update(`sealed-cookie\n${options.name}\n${text}`).digest();
  const isOurs = (text: string, proof: Buffer): boolean =>
    keys.some((key) => proof.length === 32 && timingSafeEqual(mac(key, text), proof));

  return {
    read(ctx) {
      const cookie = ctx.cookies.get(name, { signed: false }) ?? '';
      const [text = '', proof = '', ...rest] = cookie.split('.');
      if (cookie.length > MAX_LENGTH || rest.length > 0) return undefined;
      if (!isOurs(text, Buffer.from(proof, 'base64url'))) return undefined;
      const content: unknown = parseJson(Buffer.from(text, 'base64url').toString());
      if (!Array.isArray(content)) return undefined;
      const [until, value]: unknown[] = content;
      return Number(until) > clock() && isValid(value) ? value : undefined;
    },
    write(ctx, value, seconds) {
      const text = Buffer.from(JSON.stringify([clock() + seconds * 1000, value])).toString('base64url');
      const proof = mac(keys[0] ?? '', text).toString('base64url');
      ctx.cookies.set(name, `${text}.${proof}`, { ...attributes, maxAge: seconds * 1000 });
    },
    clear(ctx) {
      ctx.cookies.set(name, null, attributes);
    },
  };
}
