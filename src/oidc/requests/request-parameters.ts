// Limits of authorization request parameters, checked before the library reads and stores them, at every endpoint: GET and
// POST of the authorization endpoint, pushed requests (RFC 9126 §2.1) and device authorization (RFC 8628 §3.1). Requests of
// unauthenticated clients are stored, so their size is limited. An error is our response, never a redirect.
import type Koa from 'koa';
import { AppError } from '../../errors.ts';
import { countedAs } from '../../http/index.ts';
import { screenJson, screenJwt } from '../../json.ts';
import { type Form, type ReadForm, restoreForm } from './form.ts';
import { noteClient } from './request-client.ts';

const MAX_BYTES: Readonly<Record<string, number>> = { state: 4096, nonce: 2048, id_token_hint: 20_480 };

/** Measured as JSON, as they are stored; the whole record stays below 8 KiB. */
const MAX_STORED_BYTES = 7168;

/** Parameters of client authentication, which are not stored, and a hint, which is only when it is a token of ours. */
const NOT_STORED = new Set(['client_secret', 'client_assertion', 'client_assertion_type', 'id_token_hint']);

const JWTS = ['id_token_hint', 'request', 'client_assertion'];

const number = new Intl.NumberFormat('en');

function tooLong(name: string, bytes: number): AppError {
  return new AppError('request.invalid', {
    message: `The ${name} is longer than ${number.format(bytes)} bytes.`,
  });
}

/** @throws AppError request.invalid or request.malformed */
function checkParameters(pairs: Iterable<readonly [string, string]>): void {
  let stored = 0;
  for (const [name, value] of pairs) {
    const max = Object.hasOwn(MAX_BYTES, name) ? MAX_BYTES[name] : undefined;
    if (max !== undefined && Buffer.byteLength(value) > max) throw tooLong(name, max);
    if (!NOT_STORED.has(name)) stored += Buffer.byteLength(JSON.stringify([name, value]));
    if (name === 'claims') screenJson(value, 'parameter "claims"');
    if (JWTS.includes(name)) screenJwt(value, `in "${name}"`);
  }
  if (stored > MAX_STORED_BYTES) throw tooLong('authorization request', MAX_STORED_BYTES);
}

const pairsOf = (form: Form): [string, string][] =>
  form.keys().map((name): [string, string] => [name, form.get(name) ?? '']);

export const checkAuthorizationForm = (form: Form): void => checkParameters(pairsOf(form));

/** For GET requests. */
export const checkAuthorizationQuery: Koa.Middleware = (ctx, next) => {
  checkParameters(new URLSearchParams(ctx.querystring));
  return next();
};

interface BodyDeps {
  readonly readForm: ReadForm;
  /** Counts an unauthenticated request. @throws AppError request.rate_limited */
  readonly chargePublicRequest: (address: string) => Promise<unknown>;
}

/** For endpoints whose form the library reads. */
export function checkAuthorizationBody({ readForm, chargePublicRequest }: BodyDeps): Koa.Middleware {
  return async (ctx, next) => {
    const form = await readForm(ctx);
    noteClient(ctx, form.get('client_id'));
    checkAuthorizationForm(form);
    const credentials = [ctx.get('authorization'), form.get('client_secret'), form.get('client_assertion')];
    // A request with wrong credentials stores nothing.
    if (!credentials.some(Boolean)) await chargePublicRequest(countedAs(ctx));
    restoreForm(ctx, form);
    return next();
  };
}
