// The API that a request is for (decision 0026): settled when the request arrives, found when the client is known, and at the
// token endpoint bound to the API of the code or refresh token.
import { type Client, errors, type KoaContextWithOIDC, type ResourceServer } from 'oidc-provider';
import { type Api, type Apis, accessTokenSeconds, isOpenTo, machineScopes } from '../../apis/index.ts';
import { isBelowRequired } from '../../clients/index.ts';
import { identifierKey } from '../../store/apis.ts';
import { clientRecord } from '../models/client.ts';
import { type ApiPairs, pairsOf, scopeNames } from './api-pairs.ts';
import {
  askedScopes,
  DEFAULT,
  formOf,
  formText,
  namedIn,
  onlyOne,
  ourScopes,
  partsOf,
  type RequestedApi,
  textsOf,
  unknownApi,
  wordsOf,
} from './named-api.ts';
import { allowedScope, noScopeLeft } from './requested-scope.ts';

type Oidc = KoaContextWithOIDC['oidc'];

const requested = new WeakMap<object, RequestedApi>();

/** @returns undefined for a request that is for no API, and before it is known */
export const requestedApi = (oidc: object): RequestedApi | undefined => requested.get(oidc);

/**
 * Settles which API a request is for, before the library looks at `resource` and as soon as the client is known. Whether there
 * is such an API is decided when the client is authenticated.
 * @param options.hasDefault whether the application's default API counts when none is named and no `openid` is requested
 * @returns whether it is for one
 */
export function nameApi(
  ctx: KoaContextWithOIDC,
  client: Client,
  { hasDefault = false }: { readonly hasDefault?: boolean } = {},
): boolean {
  const { params } = ctx.oidc;
  if (params === undefined) return false;
  const words = wordsOf(params.scope);
  const { identifiers } = namedIn(ctx, client, []);
  // Whether there is such an API decides whether a prefixed scope counts or is left out (`createDefaultResource`).
  const isPrefixed = words.some((word) => partsOf(word) !== undefined);
  const [
    first = hasDefault && !words.includes('openid') ? clientRecord(client).defaultApi?.identifier : undefined,
  ] = identifiers;
  params.resource = identifiers.length > 1 ? [...identifiers] : first;
  return first !== undefined || isPrefixed;
}

const keptWords = new WeakMap<object, readonly string[]>();

/** @param words of an authorization request for an API, which the library is about to look at and change */
export function keepWords(ctx: KoaContextWithOIDC, words: readonly string[]): void {
  if (!keptWords.has(ctx.oidc)) keptWords.set(ctx.oidc, words);
  Object.assign(ctx.oidc.params ?? {}, { scope: words.length === 0 ? undefined : words.join(' ') });
}

/** @throws InvalidTarget for a request that names an API where there are tokens for none */
export function refuseApi(ctx: KoaContextWithOIDC, client: Client): void {
  if (namedIn(ctx, client, wordsOf(ctx.oidc.params?.scope)).identifiers.length > 0) throw unknownApi();
}

/** The parameter that keeps the form of an authorization request while it is stored; what a client sends in it is dropped. */
export const SCOPE_FORM = 'latchkey_scope_form';

interface Deps {
  readonly apis: Pick<Apis, 'findByIdentifier'>;
  readonly settings: () => Parameters<typeof accessTokenSeconds>[1];
}

type Ask = (ctx: KoaContextWithOIDC, client: Client) => Promise<RequestedApi>;

/** Only what an administrator granted to the application for itself; nothing without an entry. */
const askForMachine =
  ({ apis }: Deps): Ask =>
  async (ctx, client) => {
    const { params = {} } = ctx.oidc;
    const words = wordsOf(params.scope);
    const identifier = onlyOne(namedIn(ctx, client, words));
    const api = identifier === undefined ? undefined : await apis.findByIdentifier(identifier);
    const granted = api === undefined ? [] : machineScopes(api.value, client.clientId);
    if (api === undefined || granted.length === 0) throw unknownApi();
    assertProof(ctx, api);
    const asked = askedScopes(words, granted, granted);
    if (asked.scopes.length === 0) throw noScopeLeft(words.join(' '));
    params.scope = scopeNames(asked.scopes).join(' ');
    return { api, ...asked };
  };

/** At the endpoints at which a person authorizes, and again when such a request is resumed. */
const askForUser =
  ({ apis }: Deps): Ask =>
  async (ctx, client) => {
    const { params = {} } = ctx.oidc;
    const kept = keptWords.get(ctx.oidc);
    const words = kept ?? wordsOf(params.scope);
    const identifier = onlyOne(namedIn(ctx, client, words));
    const api = identifier === undefined ? undefined : await apis.findByIdentifier(identifier);
    if (api === undefined || !isOpenTo(api.value, client.clientId, clientRecord(client))) throw unknownApi();
    const ours = words.filter((word) => ourScopes.has(word));
    const { scopes } = api.value;
    const asked = askedScopes(
      words.filter((word) => !ourScopes.has(word)),
      scopes,
      scopes.filter(({ isDefault }) => isDefault),
    );
    if (asked.scopes.length === 0) throw noScopeLeft(words.join(' '));
    const isStored = kept === undefined || ctx.oidc.entities.PushedAuthorizationRequest !== undefined;
    const form = isStored ? formOf(params[SCOPE_FORM]) : asked.form;
    params[SCOPE_FORM] = formText(form);
    params.scope = [...ours, ...scopeNames(asked.scopes)].join(' ');
    return { api, scopes: asked.scopes, form };
  };

/** More than any request has reason to name. */
const MAX_PREFIXES = 5;

/**
 * @returns the identifiers before the words that count, and the words without the others; undefined: no word has one
 * @throws InvalidTarget too many
 */
async function prefixedIn(
  words: readonly string[],
  apis: Pick<Apis, 'findByIdentifier'>,
  counts: (api: Api) => boolean,
): Promise<{ usable: readonly string[]; left: readonly string[] } | undefined> {
  const prefixes = [...new Set(words.flatMap((word) => partsOf(word)?.identifier ?? []))];
  if (prefixes.length === 0) return undefined;
  if (prefixes.length > MAX_PREFIXES) throw unknownApi();
  const found = await Promise.all(prefixes.map((prefix) => apis.findByIdentifier(prefix)));
  const usable = prefixes.filter((_prefix, at) => {
    const api = found[at];
    return api !== undefined && counts(api);
  });
  const left = words.filter((word) => {
    const { identifier } = partsOf(word) ?? {};
    return identifier === undefined || usable.includes(identifier);
  });
  return { usable, left };
}

/**
 * The library's `defaultResource`: asked when a request has no `resource`. A prefixed scope counts as one; of an API that is
 * unknown or closed to the application it is left out (decision 0009), unless nothing else remains.
 * @throws InvalidTarget
 */
export const createDefaultResource =
  ({ apis }: Pick<Deps, 'apis'>) =>
  async (
    { oidc }: KoaContextWithOIDC,
    client: Client,
    oneOf?: readonly string[],
  ): Promise<string | readonly string[] | undefined> => {
    if (oneOf !== undefined) return oneOf;
    const { params = {} } = oidc;
    const words = keptWords.get(oidc) ?? wordsOf(params.scope);
    const isMachine = params.grant_type === 'client_credentials';
    const prefixed = await prefixedIn(words, apis, ({ value }) =>
      isMachine
        ? machineScopes(value, client.clientId).length > 0
        : isOpenTo(value, client.clientId, clientRecord(client)),
    );
    if (prefixed === undefined) return undefined;
    const { usable, left } = prefixed;
    if (usable.length > 0) {
      if (keptWords.has(oidc)) keptWords.set(oidc, left);
      params.scope = left.join(' ');
      return usable.length === 1 ? usable[0] : usable;
    }
    const allowed = allowedScope(left.join(' '), client);
    if (allowed === undefined) throw unknownApi();
    params.scope = allowed;
    return undefined;
  };

/** @returns the library's `getResourceServerInfo` @throws InvalidTarget, InvalidScope */
export function createResourceServerInfo(deps: Deps) {
  const [ofMachine, ofUser] = [askForMachine(deps), askForUser(deps)];

  function infoOf({ value }: Api): ResourceServer {
    return {
      audience: value.identifier,
      scope: scopeNames(value.scopes).join(' '),
      accessTokenTTL: accessTokenSeconds(value, deps.settings()),
      // The library's own JWTs are not stored; ours are (models/jwt-format.ts).
      accessTokenFormat: 'opaque',
    };
  }

  return async (ctx: KoaContextWithOIDC, _identifier: string, client: Client): Promise<ResourceServer> => {
    const { oidc } = ctx;
    const known = requested.get(oidc);
    if (known !== undefined) return infoOf(known.api);
    const isMachine = oidc.params?.grant_type === 'client_credentials';
    // Codes and refresh tokens say themselves which API they are for (`bindApi`).
    if (oidc.route === 'token' && !isMachine) throw unknownApi();
    const found = await (isMachine ? ofMachine : ofUser)(ctx, client);
    requested.set(oidc, found);
    return infoOf(found.api);
  };
}

/**
 * The library's `useGrantedResource`: without `resource` at the token endpoint, the token is for the API of the authorization.
 * Only a refresh that asks for `openid` and no scope of the API gets one for userinfo.
 */
export function staysWithApi({ oidc }: KoaContextWithOIDC): boolean {
  const words = wordsOf(oidc.params?.scope);
  const names = scopeNames(requested.get(oidc)?.scopes ?? []);
  return words.length === 0 || words.some((word) => names.includes(word));
}

/** @returns what a code of this request records: the pairs that were granted; undefined when it is for no API */
export function pairsToKeep(
  oidc: Oidc,
  { resource, scope }: { readonly resource?: unknown; readonly scope?: string | undefined },
): ApiPairs | undefined {
  if (textsOf(resource).length === 0) return undefined;
  const target = requested.get(oidc);
  if (target === undefined) throw unknownApi();
  const names = wordsOf(scope);
  const granted = target.scopes.filter(({ name }) => names.includes(name));
  return { id: target.api.id, scopeIds: granted.map(({ id }) => id), ...target.form };
}

/** @throws InvalidDpopProof the tokens of the API are bound to keys, and there is no proof; the library checks one that is there */
function assertProof(ctx: KoaContextWithOIDC, { value }: Api): void {
  if (value.isDpopRequired && ctx.get('DPoP') === '')
    throw new errors.InvalidDpopProof('the API requires a DPoP proof');
}

/**
 * Binds a request at the token endpoint to the API of the code, device code or refresh token that it brings: found by its
 * internal id. Called before that is consumed, so that a refusal leaves it as it is.
 * @throws InvalidTarget when the request names another API, InvalidGrant when it is gone or demands a stronger sign-in,
 * InvalidScope when its scopes are gone, InvalidDpopProof
 */
export async function bindApi(
  ctx: KoaContextWithOIDC,
  client: Client,
  source: { readonly acr?: string | undefined },
  apis: Pick<Apis, 'find' | 'findByIdentifier'>,
): Promise<void> {
  const { oidc } = ctx;
  const { params = {} } = oidc;
  const asks = params.grant_type === 'refresh_token' ? wordsOf(params.scope) : [];
  // Those of an API that does not exist are left out (decision 0007).
  const words = (await prefixedIn(asks, apis, () => true))?.left ?? asks;
  const { identifiers } = namedIn(ctx, client, words);
  const pairs = pairsOf(source);
  if (pairs === undefined && identifiers.length > 0) throw unknownApi();
  params.resource = undefined;
  if (pairs === undefined) return;
  const api = await apis.find(pairs.id);
  if (api === undefined) throw new errors.InvalidGrant('the API does not exist any more');
  const key = identifierKey(api.value.identifier);
  if (identifiers.some((text) => identifierKey(text) !== key)) {
    throw new errors.InvalidTarget('the authorization is for another API');
  }
  assertProof(ctx, api);
  if (isBelowRequired(source.acr, api.value))
    throw new errors.InvalidGrant('acr is below the one that the API requires');
  const scopes = api.value.scopes.filter(({ id }) => pairs.scopeIds.includes(id));
  if (scopes.length === 0) throw noScopeLeft(words.join(' '));
  const asked = askedScopes(words, scopes, scopes);
  const hasForm = words.some((word) => partsOf(word) !== undefined);
  requested.set(oidc, { api, scopes, form: hasForm ? asked.form : pairs });
  if (!hasForm) return;
  // Never as a scope of ours: `{identifier}/openid` is none of the API's.
  const bare = words.filter((word) => partsOf(word) === undefined);
  params.scope = [...new Set([...bare, ...scopeNames(asked.scopes)])].join(' ') || words.join(' ');
}

/** @returns the scope of a response as the request wrote it (`{identifier}/{name}`), which Microsoft's libraries go by */
export function scopeInForm(oidc: Oidc, scope: string): string {
  const { api, form } = requested.get(oidc) ?? {};
  if (api === undefined || form?.prefix === undefined) return scope;
  const ours = new Set(scopeNames(api.value.scopes));
  const names = scope.split(' ').filter(Boolean);
  const written = names.map((name) => (ours.has(name) ? `${form.prefix}/${name}` : name));
  return [...(form.isDefault === true ? [`${form.prefix}/${DEFAULT}`] : []), ...written].join(' ');
}
