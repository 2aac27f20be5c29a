// Request objects by reference (OIDC Core §6.2), which the library no longer fetches: what is registered and signed is fetched
// once, by the one door outwards, and handed to the library as `request`, which checks signature, audience and age.
import type { IncomingMessage } from 'node:http';
import type Koa from 'koa';
import { errors } from 'oidc-provider';
import { type Client, hasLegacyProfile, isApprovedAddress, listOf } from '../../clients/index.ts';
import { countedAs } from '../../http/index.ts';
import { type OutboundFetch, OutboundRefused } from '../outbound/outbound-fetch.ts';

interface Deps {
  readonly isOn: () => boolean;
  readonly clients: { find(id: string): Promise<Client | undefined> };
  readonly outbound: OutboundFetch;
  /** Counts an unauthenticated request, which makes this server call another. @throws AppError request.rate_limited */
  readonly chargePublicRequest: (address: string) => Promise<unknown>;
  /** The limits of authorization requests (requests/request-parameters.ts). */
  readonly checkQuery: Koa.Middleware;
}

/** Longer than any client id of ours. */
const MAX_ID = 200;

const problems = new WeakMap<IncomingMessage, string>();

/** For when the client is known, so that the library answers where it answers other errors. @throws InvalidRequestUri */
export function refuseRequestUri(request: IncomingMessage): void {
  const problem = problems.get(request);
  if (problem !== undefined) throw new errors.InvalidRequestUri(problem);
}

/** Before the library's authorization endpoint. */
export function resolveRequestUri({
  isOn,
  clients,
  outbound,
  chargePublicRequest,
  checkQuery,
}: Deps): Koa.Middleware {
  return async (ctx, next) => {
    if (ctx.path !== '/oauth2/authorize' || !isOn()) return next();
    const query = new URLSearchParams(ctx.querystring);
    const [uri = '', ...others] = query.getAll('request_uri');
    // Pushed requests, and what is wrong anyway, are the library's.
    if (!/^https?:/i.test(uri) || others.length > 0 || query.has('request')) return next();
    const id = query.get('client_id') ?? '';
    if (id.length > MAX_ID) return next();
    const client = await clients.find(id);
    if (client?.value.isActive !== true || !hasLegacyProfile(client.value)) return next();
    const registered = registeredUri(client, uri);
    if (registered === undefined) {
      problems.set(ctx.req, 'the request_uri is not registered');
      return next();
    }
    await chargePublicRequest(countedAs(ctx));
    const isApproved = isApprovedAddress(client.value, registered);
    const fetched = await fetchObject(outbound, { uri, isApproved });
    if ('problem' in fetched) {
      problems.set(ctx.req, fetched.problem);
      return next();
    }
    query.delete('request_uri');
    query.set('request', fetched.object);
    ctx.querystring = query.toString();
    return checkQuery(ctx, next);
  };
}

const withoutFragment = (uri: string): string => uri.split('#', 1).join('');

/**
 * As it is registered; a fragment may be added to one that is registered without. The fragment names a version of the content for
 * caches (OIDC Core §6.2), and there is none here: what is fetched is judged by its signature, whatever the fragment says.
 */
function registeredUri({ value }: Client, uri: string): string | undefined {
  const registered = listOf(value.metadata, 'request_uris');
  return registered.find((one) => one === uri) ?? registered.find((one) => one === withoutFragment(uri));
}

type Fetched = { readonly object: string } | { readonly problem: string };

/** Compact serialisation of what is signed; the library says what is wrong inside. */
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

async function fetchObject(
  outbound: OutboundFetch,
  { uri, isApproved }: { uri: string; isApproved: boolean },
): Promise<Fetched> {
  try {
    const accept = 'application/oauth-authz-req+jwt, application/jwt';
    const response = await outbound(
      withoutFragment(uri),
      { headers: { accept } },
      { use: 'request', isApproved },
    );
    if (response.status !== 200) return { problem: `the request_uri answered ${response.status}` };
    const object = (await response.text()).trim();
    return COMPACT.test(object) ? { object } : { problem: 'the request_uri has no signed request object' };
  } catch (error) {
    // Why an address is not called would tell strangers what is inside.
    const isRefused = error instanceof OutboundRefused;
    return { problem: isRefused ? 'the request_uri cannot be used' : 'the request_uri did not answer' };
  }
}
