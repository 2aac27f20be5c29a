// The API that a request is for (decisions §10): `resource` (RFC 8707), its alias `audience`, or a scope written
// `{identifier}/{name}`. All three are one thing here, so that every rule holds for each of them.
import { type Client, errors, type KoaContextWithOIDC, type ResourceServer } from 'oidc-provider';
import { type Api, type Apis, accessTokenSeconds, machineScopes, splitScope } from '../apis/index.ts';
import { type ApiScopeRecord, identifierKey } from '../store/apis.ts';
import { type ScopeForm, scopeNames } from './api-pairs.ts';
import { noScopeLeft } from './requested-scope.ts';

type Oidc = KoaContextWithOIDC['oidc'];

export interface RequestedApi {
  readonly api: Api;
  /** Those that this request may get at most. */
  readonly scopes: readonly ApiScopeRecord[];
  readonly form: ScopeForm;
}

const requested = new WeakMap<object, RequestedApi>();

/** @returns undefined for a request that is for no API, and before it is known */
export const requestedApi = (oidc: object): RequestedApi | undefined => requested.get(oidc);

const DEFAULT = '.default';

const textsOf = (value: unknown): string[] =>
  [value].flat().filter((item): item is string => typeof item === 'string' && item !== '');

/** @returns the parts of a scope that names its API; undefined for a plain one */
function partsOf(word: string): ReturnType<typeof splitScope> {
  const parts = splitScope(word);
  return parts !== undefined && URL.canParse(parts.identifier) ? parts : undefined;
}

interface Named {
  readonly identifiers: readonly string[];
  readonly hasBareNames: boolean;
}

/** @returns the APIs that the request names, each once; the application itself and this server are none */
function namedIn(ctx: KoaContextWithOIDC, client: Client, scope: unknown): Named {
  const { body, params, issuer } = ctx.oidc;
  const words = textsOf(scope).flatMap((text) => text.split(' '));
  const prefixed = words.map(partsOf);
  const found = [
    ...textsOf(params?.resource),
    ...textsOf(body?.audience),
    ...textsOf(ctx.query.audience),
    ...prefixed.flatMap((parts) => parts?.identifier ?? []),
  ].filter((text) => text !== client.clientId && text !== issuer);
  return {
    identifiers: [...new Map(found.map((text) => [identifierKey(text), text])).values()],
    hasBareNames: prefixed.includes(undefined),
  };
}

/** @returns the only API that the request names @throws InvalidScope or InvalidTarget for more than one */
function onlyOne({ identifiers, hasBareNames }: Named): string | undefined {
  const [only, ...others] = identifiers;
  if (others.length === 0) return only;
  if (hasBareNames) throw new errors.InvalidScope('of which of the requested APIs is this scope?', '');
  throw new errors.InvalidTarget('a token is for one API only');
}

const unknownApi = (): errors.InvalidTarget =>
  new errors.InvalidTarget('there is no such API, or this application may not use it');

/**
 * Settles which API a request for a machine token is for, before the library looks at `resource` and as soon as the client
 * is known.
 * @returns whether it is for one
 */
export function nameApi(ctx: KoaContextWithOIDC, client: Client): boolean {
  const { params } = ctx.oidc;
  if (params === undefined) return false;
  const { identifiers } = namedIn(ctx, client, params.scope);
  params.resource = identifiers.length > 1 ? [...identifiers] : identifiers[0];
  return identifiers.length > 0;
}

/** @throws InvalidTarget for a request that names an API where there are tokens for none */
export function refuseApi(ctx: KoaContextWithOIDC, client: Client): void {
  if (namedIn(ctx, client, ctx.oidc.params?.scope).identifiers.length > 0) throw unknownApi();
}

/**
 * @param candidates those of the API that it may have at most
 * @param byDefault those that `.default`, or no name at all, stands for
 * @returns the scopes that a request asks for, and how it wrote them
 */
function askedScopes(
  words: readonly string[],
  candidates: readonly ApiScopeRecord[],
  byDefault: readonly ApiScopeRecord[],
): Pick<RequestedApi, 'scopes' | 'form'> {
  const prefixed = words.flatMap((word) => partsOf(word) ?? []);
  const names = new Set(words.map((word) => partsOf(word)?.name ?? word));
  const isDefault = prefixed.some(({ name }) => name === DEFAULT);
  const [first] = prefixed;
  return {
    scopes: candidates.filter(
      (scope) => names.has(scope.name) || ((isDefault || words.length === 0) && byDefault.includes(scope)),
    ),
    form: first === undefined ? {} : { prefix: first.identifier, ...(isDefault && { isDefault }) },
  };
}

interface Deps {
  readonly apis: Pick<Apis, 'findByIdentifier'>;
  readonly settings: () => Parameters<typeof accessTokenSeconds>[1];
}

/** @returns the library's `getResourceServerInfo` @throws InvalidTarget, InvalidScope */
export function createResourceServerInfo({ apis, settings }: Deps) {
  /** Only what an administrator granted to the application for itself; nothing without an entry. */
  async function ofMachine(ctx: KoaContextWithOIDC, client: Client): Promise<RequestedApi> {
    const { params = {} } = ctx.oidc;
    const identifier = onlyOne(namedIn(ctx, client, params.scope));
    const api = identifier === undefined ? undefined : await apis.findByIdentifier(identifier);
    const granted = api === undefined ? [] : machineScopes(api.value, client.clientId);
    if (api === undefined || granted.length === 0) throw unknownApi();
    const words = textsOf(params.scope).flatMap((text) => text.split(' '));
    const asked = askedScopes(words, granted, granted);
    if (asked.scopes.length === 0) throw noScopeLeft(words.join(' '));
    params.scope = scopeNames(asked.scopes).join(' ');
    return { api, ...asked };
  }

  function infoOf({ value }: Api): ResourceServer {
    return {
      audience: value.identifier,
      scope: scopeNames(value.scopes).join(' '),
      accessTokenTTL: accessTokenSeconds(value, settings()),
      // The library's own JWTs are not stored; ours are (models/jwt-format.ts).
      accessTokenFormat: 'opaque',
    };
  }

  return async (ctx: KoaContextWithOIDC, _identifier: string, client: Client): Promise<ResourceServer> => {
    const { oidc } = ctx;
    const known = requested.get(oidc);
    if (known !== undefined) return infoOf(known.api);
    if (oidc.params?.grant_type !== 'client_credentials') throw unknownApi();
    const found = await ofMachine(ctx, client);
    requested.set(oidc, found);
    return infoOf(found.api);
  };
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
