// How a request names an API (decision 0026): `resource` (RFC 8707), its alias `audience`, or a scope written
// `{identifier}/{name}`. All three are one thing here, so that every rule holds for each of them.
import { type Client, errors, type KoaContextWithOIDC } from 'oidc-provider';
import { type Api, splitScope } from '../../apis/index.ts';
import { type ApiScopeRecord, identifierKey } from '../../store/apis.ts';
import type { ScopeForm } from './api-pairs.ts';
import { scopes as listOfOurs } from './scopes.ts';

export interface RequestedApi {
  readonly api: Api;
  /** Those that this request may get at most. */
  readonly scopes: readonly ApiScopeRecord[];
  readonly form: ScopeForm;
}

export const DEFAULT = '.default';

/** Those that are of no API. */
export const ourScopes: ReadonlySet<string> = new Set(listOfOurs);

export const textsOf = (value: unknown): string[] =>
  [value].flat().filter((item): item is string => typeof item === 'string' && item !== '');

/** @returns the parts of a scope that names its API; undefined for a plain one */
export function partsOf(word: string): ReturnType<typeof splitScope> {
  const parts = splitScope(word);
  return parts !== undefined && URL.canParse(parts.identifier) ? parts : undefined;
}

interface Named {
  readonly identifiers: readonly string[];
  readonly hasBareNames: boolean;
}

export const wordsOf = (scope: unknown): string[] =>
  textsOf(scope).flatMap((text) => text.split(/\s+/).filter(Boolean));

/** @returns the APIs that the request names, each once; the application itself and this server are none */
export function namedIn(ctx: KoaContextWithOIDC, client: Client, words: readonly string[]): Named {
  const { body, entities, params, issuer } = ctx.oidc;
  // RFC 9126 §4: of a pushed request, what is beside it does not count.
  const beside =
    entities.PushedAuthorizationRequest === undefined
      ? [body?.audience, body?.resource, ctx.query.audience]
      : [];
  const prefixed = words.map(partsOf);
  const found = [
    ...textsOf(params?.resource),
    ...beside.flatMap(textsOf),
    ...prefixed.flatMap((parts) => parts?.identifier ?? []),
  ].filter((text) => text !== client.clientId && text !== issuer);
  return {
    identifiers: [...new Map(found.map((text) => [identifierKey(text), text])).values()],
    hasBareNames: words.some((word) => partsOf(word) === undefined && !ourScopes.has(word)),
  };
}

/** @returns the only API that the request names @throws InvalidScope or InvalidTarget for more than one */
export function onlyOne({ identifiers, hasBareNames }: Named): string | undefined {
  const [only, ...others] = identifiers;
  if (others.length === 0) return only;
  if (hasBareNames) throw new errors.InvalidScope('of which of the requested APIs is this scope?', '');
  throw new errors.InvalidTarget('a token is for one API only');
}

export const unknownApi = (): errors.InvalidTarget =>
  new errors.InvalidTarget('there is no such API, or this application may not use it');

/**
 * @param candidates those of the API that it may have at most
 * @param byDefault those that `.default`, or no name at all, stands for
 * @returns the scopes that a request asks for, and how it wrote them
 */
export function askedScopes(
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

export const formText = ({ prefix, isDefault }: ScopeForm): string | undefined =>
  prefix === undefined ? undefined : isDefault === true ? `${prefix}/${DEFAULT}` : `${prefix}/`;

export function formOf(text: unknown): ScopeForm {
  const parts = typeof text === 'string' ? partsOf(text) : undefined;
  if (parts === undefined) return {};
  return { prefix: parts.identifier, ...(parts.name === DEFAULT && { isDefault: true }) };
}
