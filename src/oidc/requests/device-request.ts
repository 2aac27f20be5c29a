// What the confirmation page of the device flow shows about a request (RFC 8628 §5.4): a user who was sent there by a
// phisher sees what is requested, and that the request came from a different network.
import type Koa from 'koa';
import type { Client, KoaContextWithOIDC } from 'oidc-provider';
import type { Apis } from '../../apis/index.ts';
import { POLL_SECONDS } from '../../rate-limits/index.ts';
import { claimEntriesFor, wordsOfEntries } from '../entitlements/api-consent.ts';
import { currentScopes, namesInClaims, scopesOfClaims } from '../entitlements/entitlement.ts';
import { scopes } from '../entitlements/scopes.ts';
import { clientRecord } from '../models/client.ts';
import { type LifetimeSettings, longestRefreshSeconds } from '../policies.ts';

export interface DeviceRequest {
  readonly userCode: string;
  readonly clientName: string;
  /** Those that will be granted or shown for consent. */
  readonly scopes: readonly string[];
  /** What it asks for at an API, in the API's words. */
  readonly api: ReturnType<typeof wordsOfEntries>;
  /** Of the device when it started; '' when it was not recorded. */
  readonly address: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** How long the device can stay signed in without asking again. */
  readonly maxSeconds: number;
}

type Lifetimes = Pick<LifetimeSettings, 'access_token_seconds'> & Parameters<typeof longestRefreshSeconds>[2];

const MAX_USER_AGENT = 512;

/** Stored with the device code. The sender chooses the length of the User-Agent, so it is cut. */
export const deviceInfo = (ctx: KoaContextWithOIDC) => ({
  ip: ctx.ip,
  ua: ctx.get('user-agent').slice(0, MAX_USER_AGENT),
});

const asRegistered = new WeakSet<object>();

/**
 * Whoever starts a device's sign-in decides nothing about the authentication of whoever confirms it: a demanded sign-in would be a
 * fresh one, made for a phisher. What the application is registered with stays. Before the library checks either.
 */
export function ignoreReauthentication({ oidc }: KoaContextWithOIDC): void {
  const { client, params, route } = oidc;
  if (route !== 'device_authorization' || client === undefined || params === undefined) return;
  if (asRegistered.has(oidc)) return;
  asRegistered.add(oidc);
  const { defaultMaxAge } = client;
  Object.assign(params, {
    prompt: undefined,
    max_age: defaultMaxAge === undefined ? undefined : String(defaultMaxAge),
  });
}

/** RFC 8628 §3.2: without it a device assumes the same, but some libraries read nothing as no pause at all. */
export const sayInterval: Koa.Middleware = async (
  ctx: Koa.Context & Partial<Pick<KoaContextWithOIDC, 'oidc'>>,
  next,
) => {
  await next();
  const isAnswer = ctx.oidc?.route === 'device_authorization' && ctx.status === 200;
  if (isAnswer && typeof ctx.body === 'object') ctx.body = { ...ctx.body, interval: POLL_SECONDS };
};

interface Described {
  readonly client: Client;
  readonly userCode: string;
  readonly lifetimes: Lifetimes;
  readonly apis: Pick<Apis, 'findByIdentifier'>;
}

export async function describeDeviceRequest(
  ctx: KoaContextWithOIDC,
  { client, userCode, lifetimes, apis }: Described,
): Promise<DeviceRequest> {
  const { DeviceCode: code } = ctx.oidc.entities;
  const requested = String(code?.params?.scope ?? '').split(' ');
  // A claim requested by `claims` is delivered under its scope, so that scope is shown.
  const named = [...requested, ...scopesOfClaims(namesInClaims(code?.params?.claims), clientRecord(client))];
  const asked = currentScopes(new Set(named), clientRecord(client)).filter((name) => scopes.includes(name));
  const { ip } = code?.deviceInfo ?? {};
  const { resource } = code?.params ?? {};
  const api = typeof resource === 'string' ? await apis.findByIdentifier(resource) : undefined;
  const ofApi = api?.value.scopes.filter(({ name }) => requested.includes(name)).map(({ id }) => id) ?? [];
  return {
    userCode,
    clientName: client.clientName ?? client.clientId,
    scopes: asked,
    api:
      api &&
      wordsOfEntries(
        api,
        ofApi.length === 0 ? [] : [...ofApi, ...claimEntriesFor(api, clientRecord(client))],
      ),
    address: typeof ip === 'string' ? ip : '',
    startedAt: (code?.iat ?? 0) * 1000,
    maxSeconds: maxSecondsOf(client, asked, lifetimes),
  };
}

function maxSecondsOf(client: Client, asked: readonly string[], lifetimes: Lifetimes): number {
  if (!client.grantTypeAllowed('refresh_token')) return lifetimes.access_token_seconds;
  return longestRefreshSeconds(
    clientRecord(client),
    { gty: 'device_code', scopes: new Set(asked) },
    lifetimes,
  );
}
