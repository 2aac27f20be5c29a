// What a person agrees to beside the scopes of this server: scopes of an API, and the claims about them that its tokens carry
// (decision 0026). Grants and remembered consents keep both as entries under the internal id of the API.

import type { Grant, KoaContextWithOIDC } from 'oidc-provider';
import type { Api } from '../../apis/index.ts';
import { isMembers, isTexts } from '../../json.ts';
import type { ApiClaim } from '../../store/apis.ts';
import type { ClientRecord } from '../../store/collections.ts';
import { clientRecord } from '../models/client.ts';
import { liveScopes } from './api-pairs.ts';
import { scopesOfClient } from './entitlement.ts';
import { requestAccount } from './find-account.ts';
import { requestedApi } from './requested-api.ts';

const CLAIM = 'claim:';

/** An entry is the id of a scope, or this for a claim; no id contains a colon. */
const claimEntry = (claim: ApiClaim): string => `${CLAIM}${claim}`;

/** @returns the claims that the API's tokens may carry for this application */
const claimsFor = ({ value }: Api, client: ClientRecord): readonly ApiClaim[] =>
  value.claims.filter((claim) => scopesOfClient(client).has(claim));

/** The entries of the API's claims, which come with any of its scopes. */
export const claimEntriesFor = (api: Api, client: ClientRecord): string[] =>
  claimsFor(api, client).map(claimEntry);

const entriesIn = (grant: Grant, apiId: string): string[] =>
  grant.getResourceScope(apiId).split(' ').filter(Boolean);

/** @returns those of the claims that the grant has, and that may be delivered now */
export function grantedClaims(grant: Grant, api: Api, client: ClientRecord): readonly ApiClaim[] {
  const entries = entriesIn(grant, api.id);
  return claimsFor(api, client).filter((claim) => entries.includes(claimEntry(claim)));
}

export interface ApiAsked {
  readonly api: Api;
  /** All that the request needs; empty: this person may have no scope of it. */
  readonly entries: readonly string[];
}

/** @returns what this authorization request asks the person for; undefined when it is for no API */
export function apiAsked(ctx: KoaContextWithOIDC): ApiAsked | undefined {
  const { client } = ctx.oidc;
  const target = requestedApi(ctx.oidc);
  const account = requestAccount(ctx);
  if (client === undefined || target === undefined || account === undefined) return undefined;
  const record = clientRecord(client);
  const { api } = target;
  const scopes = liveScopes(
    api,
    target.scopes.map(({ id }) => id),
    { id: client.clientId, record },
    account,
  );
  const claims = scopes.length === 0 ? [] : claimEntriesFor(api, record);
  return { api, entries: [...scopes.map(({ id }) => id), ...claims] };
}

export function missingEntries(grant: Grant, { api, entries }: ApiAsked): string[] {
  const granted = entriesIn(grant, api.id);
  return entries.filter((entry) => !granted.includes(entry));
}

/** What the consent page asks for: kept in the interaction, so that exactly what was shown is granted. */
export interface ApiToConsent {
  readonly apiId: string;
  readonly entries: readonly string[];
  /** False: all was granted before, and the application asks again. */
  readonly isNew: boolean;
}

/** @returns undefined when the page asks for nothing of an API */
export function apiToConsent(details: Readonly<Record<string, unknown>>): ApiToConsent | undefined {
  const { apiToConsent: kept } = details;
  if (!isMembers(kept)) return undefined;
  const { apiId, entries, isNew } = kept;
  if (typeof apiId !== 'string' || !isTexts(entries)) return undefined;
  return { apiId, entries, isNew: isNew === true };
}

/** @returns what the page says about these entries, in the API's words; undefined when one of them is gone */
export function wordsOfEntries({ value }: Api, entries: readonly string[]) {
  const scopes = value.scopes.filter(({ id }) => entries.includes(id));
  const claims = value.claims.filter((claim) => entries.includes(claimEntry(claim)));
  if (scopes.length + claims.length < entries.length) return undefined;
  return {
    name: value.name,
    identifier: value.identifier,
    scopes: scopes.map(({ description }) => description),
    claims,
  };
}
