// CSRF protection: a form token bound to a signed browser cookie and a purpose, plus the browser's
// own headers about the origin of the request. Independent of sessions: a form of a signed-in user includes the
// session id in its purpose. koa-csrf and similar packages need a session for the token, and the sign-in pages have
// none.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type Koa from 'koa';
import { AppError } from '../errors.ts';
import { isOfOwnForm } from './request-source.ts';

export interface CsrfOptions {
  /** Newest first: keys[0] signs, all verify. */
  readonly keys: readonly string[];
  /** Whether BASE_URL is https. */
  readonly isSecure: boolean;
  /** The path of BASE_URL (`/` if it has none); for https the `__Host-` prefix requires `/` instead. */
  readonly cookiePath: string;
}

export interface Csrf {
  /** The browser's id; created, with its cookie, if the request has none. */
  browserId(ctx: Koa.Context): string;
  /** The browser's id; undefined if the request has no such cookie. */
  existingBrowserId(ctx: Koa.Context): string | undefined;
  /**
   * The value of the form's hidden field.
   * @param purpose which form; a token for one form is refused by all others
   */
  token(ctx: Koa.Context, purpose: string): string;
  /** @throws AppError request.csrf or, when the cookie is missing, request.cookies_off */
  verify(ctx: Koa.Context, purpose: string, token: string | undefined): void;
}

const ID_BYTES = 32;

const mac = (key: string, ...parts: string[]): Buffer =>
  createHmac('sha256', key).update(JSON.stringify(parts)).digest();

const isSameBytes = (left: Buffer, right: Buffer): boolean =>
  left.length === right.length && timingSafeEqual(left, right);

export function createCsrf({ keys, isSecure, cookiePath }: CsrfOptions): Csrf {
  const [signingKey] = keys;
  if (signingKey === undefined) throw new TypeError('createCsrf needs at least one key');
  const cookieName = isSecure ? '__Host-latchkey_browser' : 'latchkey_browser';
  const path = isSecure ? '/' : cookiePath;
  // Several forms on one page request it before the cookie has been sent.
  const created = new WeakMap<IncomingMessage, string>();

  const isSignedByUs = (proof: Buffer, ...parts: string[]): boolean =>
    keys.map((key) => isSameBytes(proof, mac(key, ...parts))).includes(true);

  const existingBrowserId = (ctx: Koa.Context): string | undefined => {
    const [id = '', proof = '', ...rest] = (ctx.cookies.get(cookieName, { signed: false }) ?? '').split('.');
    if (id === '' || rest.length > 0) return undefined;
    return isSignedByUs(Buffer.from(proof, 'base64url'), 'browser', id) ? id : undefined;
  };

  const browserId = (ctx: Koa.Context): string => {
    const known = created.get(ctx.req) ?? existingBrowserId(ctx);
    if (known !== undefined) return known;
    const id = randomBytes(ID_BYTES).toString('base64url');
    created.set(ctx.req, id);
    ctx.cookies.set(cookieName, `${id}.${mac(signingKey, 'browser', id).toString('base64url')}`, {
      httpOnly: true,
      sameSite: 'lax',
      secure: isSecure,
      path,
      signed: false,
      overwrite: true,
    });
    return id;
  };

  return {
    browserId,
    existingBrowserId,
    token: (ctx, purpose) => mac(signingKey, 'csrf', purpose, browserId(ctx)).toString('base64url'),
    verify(ctx, purpose, token) {
      // As src/http/request-guard.ts does for every form.
      if (!isOfOwnForm(ctx)) throw new AppError('request.csrf');
      const id = existingBrowserId(ctx);
      if (id === undefined) throw new AppError('request.cookies_off');
      const proof = Buffer.from(token ?? '', 'base64url');
      if (!isSignedByUs(proof, 'csrf', purpose, id)) throw new AppError('request.csrf');
    },
  };
}
