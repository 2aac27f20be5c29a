// `Authorization: Basic base64(id:)` of a public client: some libraries send the client id this way although there is no
// secret (RFC 6749 §2.3.1 lets a client omit an empty secret, but only from the form). The library refuses an empty password
// before it looks at the client (lib/shared/client_auth.js), so this runs first.
import type Koa from 'koa';
import type { Clients } from '../../clients/index.ts';
import { type Form, type ReadForm, readOptionalForm, restoreForm } from './form.ts';

interface Deps {
  readonly clients: Pick<Clients, 'find'>;
  readonly readForm: ReadForm;
}

/** Endpoints with client authentication. */
const ENDPOINTS = new Set(
  ['token', 'introspect', 'revoke', 'logout', 'par', 'device_authorization'].map((name) => `/oauth2/${name}`),
);

const BASIC = /^basic ([A-Za-z0-9+/]{2,400}={0,2})$/i;

/** Other ways of client authentication. With one of them the header is a second credential, and the library answers 400. */
const CREDENTIALS = ['client_secret', 'client_assertion', 'client_assertion_type'];

/** @returns the client id of a Basic header with an empty password; undefined for any other header */
function idWithoutPassword(authorization: string): string | undefined {
  const [, encoded = ''] = BASIC.exec(authorization) ?? [];
  const pair = Buffer.from(encoded, 'base64').toString();
  if (pair.length < 2 || pair.indexOf(':') !== pair.length - 1) return undefined;
  try {
    return decodeURIComponent(pair.slice(0, -1).replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

const withClientId = (form: Form, clientId: string): Form => ({
  get: (name) => (name === 'client_id' ? clientId : form.get(name)),
  keys: () => [...new Set([...form.keys(), 'client_id'])],
});

/**
 * Drops the header and puts `client_id` into the form if the client is registered as public. Any other request stays as it is,
 * so that an empty password never authenticates a client that has a secret.
 */
export function acceptPublicBasic({ clients, readForm }: Deps): Koa.Middleware {
  return async (ctx, next) => {
    if (ctx.method !== 'POST' || !ENDPOINTS.has(ctx.path)) return next();
    const clientId = idWithoutPassword(ctx.get('authorization'));
    if (clientId === undefined) return next();
    const { value: record } = (await clients.find(clientId)) ?? {};
    if (record?.isActive !== true || record.metadata.token_endpoint_auth_method !== 'none') return next();
    const form = await readOptionalForm(ctx, readForm);
    const named = form.get('client_id') ?? clientId;
    const isAlone = named === clientId && CREDENTIALS.every((name) => form.get(name) === undefined);
    if (isAlone) delete ctx.req.headers.authorization;
    restoreForm(ctx, isAlone ? withClientId(form, clientId) : form);
    return next();
  };
}
