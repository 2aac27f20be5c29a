// Whose request it is, for CORS (decision 0022): the client that the request names or whose token it carries. Responses of the
// library have it from the library; where we answer ourselves, the handler notes it.
import type Koa from 'koa';
import { hasOrigin } from '../../clients/index.ts';
import type { HasOrigin } from '../../http/index.ts';
import { memberOf, parseJson } from '../../json.ts';
import type { ClientRecord } from '../../store/collections.ts';
import { clientRecord } from '../models/client.ts';
import type { ProtocolContext } from '../provider-middleware.ts';
import type { AccessTokenJwt } from '../tokens/access-token-jwt.ts';

/** Longer than any client id of ours. */
const MAX_ID = 200;

const noted = new WeakMap<Koa.Context, string>();

/** @param clientId as the request says it, authenticated or not */
export function noteClient(ctx: Koa.Context, clientId: string | undefined): void {
  if (clientId !== undefined && clientId !== '' && clientId.length <= MAX_ID) noted.set(ctx, clientId);
}

/** Unverified: only says whose request it claims to be. */
function memberOfJwt(jwt: string, member: 'client_id' | 'sub'): string | undefined {
  try {
    const payload = parseJson(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());
    return textOf(memberOf(payload, member));
  } catch {
    return undefined;
  }
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= MAX_ID ? value : undefined;

function idInHeader(authorization: string): string | undefined {
  const [, scheme = '', credentials = ''] = /^(basic|bearer|dpop) +(\S+)$/i.exec(authorization) ?? [];
  if (scheme.toLowerCase() !== 'basic') return memberOfJwt(credentials, 'client_id');
  // Without its colon, or with anything but text before it, it is no id: perhaps a secret that was put there alone.
  const [, id = ''] = /^([\x20-\x7e]+?):/.exec(Buffer.from(credentials, 'base64').toString()) ?? [];
  try {
    return textOf(decodeURIComponent(id.replaceAll('+', ' ')));
  } catch {
    return undefined;
  }
}

const MANAGED = /^\/oauth2\/register\/([^/]+)$/;

/** @returns the client that a request names anywhere, authenticated or not, whether it exists or not */
export function namedClient(ctx: ProtocolContext): string | undefined {
  const { client_id: inForm, client_assertion: assertion } = ctx.oidc?.params ?? {};
  return (
    textOf(inForm) ??
    noted.get(ctx) ??
    textOf(new URLSearchParams(ctx.querystring).get('client_id')) ??
    (typeof assertion === 'string' ? memberOfJwt(assertion, 'sub') : undefined) ??
    idInHeader(ctx.get('authorization')) ??
    textOf(MANAGED.exec(ctx.path)?.[1])
  );
}

interface Deps {
  readonly jwt: () => Pick<AccessTokenJwt, 'clientOf'>;
  readonly findClient: (clientId: string) => Promise<ClientRecord | undefined>;
}

export function createHasOrigin({ jwt, findClient }: Deps): HasOrigin {
  /** An expired or revoked token still says whose it was, so that its application can read that it must renew it. */
  async function idOf(ctx: Koa.Context): Promise<string | undefined> {
    const [, bearer] = /^(?:bearer|dpop) ([\w.-]+)$/i.exec(ctx.get('authorization')) ?? [];
    return noted.get(ctx) ?? (bearer === undefined ? undefined : jwt().clientOf(bearer));
  }

  return async (ctx: ProtocolContext, origin) => {
    const { client } = ctx.oidc ?? {};
    if (client !== undefined) return hasOrigin(clientRecord(client), origin);
    try {
      const clientId = await idOf(ctx);
      const record = clientId === undefined ? undefined : await findClient(clientId);
      return record?.isActive === true && hasOrigin(record, origin);
    } catch {
      // The store is unavailable: so is the response.
      return false;
    }
  };
}
