// What the suite is told for a plan: the provider, and the applications that were registered there for it.
import { setTimeout as wait } from 'node:timers/promises';
import { type Calls, type Json, listIn, memberOf, textIn } from './calls.ts';
import { createClientKeys } from './keys.ts';
import type { Plan } from './plans.ts';

export interface Person {
  readonly username: string;
  readonly password: string;
}

export interface Target {
  readonly suite: string;
  readonly baseUrl: string;
  readonly issuer: string;
  readonly person: Person;
  readonly administrator: Person;
}

/** One for each plan, so that several can be run at once. */
const aliasOf = ({ name }: Plan): string => `latchkey-${name}`;

/** RFC 8414 §3.1 puts the well-known part before the issuer's path, OIDC Discovery §4 behind it. */
function discoveryUrl({ variant }: Plan, issuer: string): string {
  const { origin, pathname } = new URL(issuer);
  return variant.openid === 'plain_oauth'
    ? `${origin}/.well-known/oauth-authorization-server${pathname}`
    : `${issuer}/.well-known/openid-configuration`;
}

export const personOf = ({ fapi }: Plan, { person, administrator }: Target): Person =>
  fapi?.isForAdmin === true ? administrator : person;

type Register = (name: string, more?: Json) => Promise<Json>;

const registerAt =
  (admin: Calls['admin'], plan: Plan, callbacks: string): Register =>
  async (name, more = {}) => {
    const made = await admin('POST', '/clients', {
      client_name: name,
      redirect_uris: [`${callbacks}/callback`, `${callbacks}/callback?dummy1=lorem&dummy2=ipsum`],
      post_logout_redirect_uris: [`${callbacks}/post_logout_redirect`],
      scope: 'openid profile email address phone offline_access',
      skip_consent: true,
      minimal_id_tokens: true,
      grant_types: ['authorization_code', 'refresh_token'],
      ...plan.metadata?.(callbacks),
      ...more,
    });
    return {
      client_id: textIn(made, 'client_id'),
      client_secret: textIn(made, 'client_secret'),
      scope: 'openid',
    };
  };

async function fapiClient(register: Register, name: string, scope: string): Promise<Json> {
  const { privateJwks, publicJwks } = createClientKeys(name);
  const made = await register(name, {
    scope,
    token_endpoint_auth_method: 'private_key_jwt',
    token_endpoint_auth_signing_alg: 'PS256',
    id_token_signed_response_alg: 'ES256',
    jwks: publicJwks,
    dpop_bound_access_tokens: true,
    require_pushed_authorization_requests: true,
    require_pkce: true,
  });
  return { client_id: made.client_id, scope, jwks: privateJwks, dpop_signing_alg: 'ES256' };
}

/** What an operator hands to whom old applications are to come from: they do without PKCE, and have `request_uri`. */
async function registrant(admin: Calls['admin']): Promise<Json> {
  const token = { label: 'conformance', uses: 200, profile: 'legacy' };
  const made = await admin('POST', '/initial-access-tokens', token);
  return { client_name: 'Conformance', initial_access_token: textIn(made, 'token') };
}

async function clientsOf(
  plan: Plan,
  admin: Calls['admin'],
  callbacks: string,
  target: Target,
): Promise<Json> {
  if (plan.isDynamic === true) {
    const own = await registrant(admin);
    return { client: own, client2: own };
  }
  const register = registerAt(admin, plan, callbacks);
  const { fapi } = plan;
  if (fapi !== undefined)
    return {
      client: await fapiClient(register, 'first', fapi.scope),
      client2: await fapiClient(register, 'second', fapi.scope),
      resource: { resourceUrl: `${target.baseUrl}${fapi.resource}` },
    };
  return {
    client: await register('first'),
    client2: await register('second'),
    client_secret_post: await register('post', { token_endpoint_auth_method: 'client_secret_post' }),
  };
}

const ANNOUNCED_WITHIN_MS = 90_000;
const LOOK_MS = 2_000;

/**
 * Discovery says within a minute what a new application needs (signed responses); the suite reads it at once.
 * @throws Error where it says so never
 */
async function waitUntilAnnounced(plan: Plan, discovery: string): Promise<void> {
  if (plan.variant.fapi_response_mode !== 'jarm') return;
  const until = performance.now() + ANNOUNCED_WITHIN_MS;
  while (performance.now() < until) {
    const metadata: unknown = await (await fetch(discovery)).json();
    if (listIn(memberOf(metadata, 'authorization_signing_alg_values_supported')).length > 0) return;
    await wait(LOOK_MS);
  }
  throw new Error(`${discovery} does not announce signed responses`);
}

/** @returns the configuration of a plan in the suite's language; it has no commands for the suite's own browser */
export async function configurationOf(plan: Plan, { admin }: Calls, target: Target): Promise<Json> {
  const { suite, issuer } = target;
  const alias = aliasOf(plan);
  const clients = await clientsOf(plan, admin, `${suite}/test/a/${alias}`, target);
  const discovery = discoveryUrl(plan, issuer);
  await waitUntilAnnounced(plan, discovery);
  return {
    alias,
    description: plan.name,
    server: {
      discoveryUrl: discovery,
      login_hint: personOf(plan, target).username,
    },
    consent: {},
    ...clients,
  };
}
