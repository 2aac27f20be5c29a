// Which applications can access a user's account, and revoking that access: consents (which outlive sessions) and the
// grants of each session, combined by application.

import { isPassing } from '../client-ids.ts';
import { isMembers, memberOf } from '../json.ts';
import { consents as consentCollection } from '../store/collections.ts';
import type { Store } from '../store/port.ts';
import * as protocol from '../store/protocol-collections.ts';
import { consentId } from './consents.ts';
import type { Grants } from './grants.ts';

export interface ApplicationAccess {
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** What it may do at APIs: by the internal id of each, the ids of its scopes. */
  readonly apis: ReadonlyMap<string, readonly string[]>;
  /** Epoch milliseconds: the oldest consent or grant that is still valid. */
  readonly since: number;
  /** Epoch milliseconds: when it last signed the user in or got tokens, as far as what is still valid says. */
  readonly lastUsedAt: number;
  /** How many of its tokens for this user are valid. */
  readonly tokens: number;
}

export interface ApplicationAccesses {
  /** Newest first. */
  list(accountId: string): Promise<ApplicationAccess[]>;
  /**
   * Revokes every token of the application for this user; it must ask for consent again. @returns whether there was
   * anything to revoke
   */
  remove(accountId: string, clientId: string): Promise<boolean>;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The scopes of oidc-provider's grant (`openid: { scope }`). */
function scopesOf(openid: unknown): string[] {
  return textOf(memberOf(openid, 'scope')).split(' ').filter(Boolean);
}

type Pairs = readonly (readonly [apiId: string, entries: readonly string[]])[];

/** What a grant holds for APIs (src/oidc/models/grant.ts). */
const apisIn = (resources: unknown): Pairs =>
  isMembers(resources)
    ? Object.entries(resources).map(([id, entries]) => [id, textOf(entries).split(' ').filter(Boolean)])
    : [];

function joined(pairs: Pairs): Map<string, string[]> {
  const all = new Map<string, string[]>();
  for (const [id, entries] of pairs) all.set(id, [...new Set([...(all.get(id) ?? []), ...entries])]);
  return all;
}

const millisecondsOf = (seconds: unknown): number => Number(seconds ?? 0) * 1000;

interface Part {
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly apis: Pairs;
  readonly since: number;
  readonly usedAt: number;
}

export function createApplicationAccess({
  store,
  grants,
}: {
  readonly store: Store;
  readonly grants: Pick<Grants, 'revoke'>;
}): ApplicationAccesses {
  const grantRecords = store.collection(protocol.grants);
  const consents = store.collection(consentCollection);

  const tokens = [store.collection(protocol.refreshTokens), store.ephemeral(protocol.accessTokens)];

  async function partsOf(accountId: string): Promise<Part[]> {
    const [given, agreed] = await Promise.all([
      grantRecords.findBy('account', accountId),
      consents.findBy('account', accountId),
    ]);
    return [
      ...given.map(({ value }) => ({
        clientId: textOf(value.clientId),
        scopes: scopesOf(value.openid),
        apis: apisIn(value.resources),
        since: millisecondsOf(value.iat),
        usedAt: millisecondsOf(value.iat),
      })),
      ...agreed.map(({ value: { clientId, scopes, apis = {}, createdAt } }) => ({
        clientId,
        scopes,
        apis: Object.entries(apis),
        since: createdAt,
        usedAt: createdAt,
      })),
    ];
  }

  return {
    async list(accountId) {
      const [all, ...found] = await Promise.all([
        partsOf(accountId),
        ...tokens.map((collection) => collection.findBy('account', accountId)),
      ]);
      const parts = all.filter(({ clientId }) => !isPassing(clientId));
      const live = found.flat().filter(({ value }) => value.consumed === undefined);
      const tokensByClient = Map.groupBy(live, ({ value }) => textOf(value.clientId));
      return [...Map.groupBy(parts, ({ clientId }) => clientId)]
        .map(([clientId, own]) => {
          const held = tokensByClient.get(clientId) ?? [];
          const issuedAt = held.map(({ value }) => millisecondsOf(value.iat));
          return {
            clientId,
            scopes: [...new Set(own.flatMap(({ scopes }) => scopes))],
            apis: joined(own.flatMap(({ apis }) => apis)),
            since: Math.min(...own.map(({ since }) => since)),
            lastUsedAt: Math.max(...own.map(({ usedAt }) => usedAt), ...issuedAt),
            tokens: held.length,
          };
        })
        .sort((a, b) => b.since - a.since);
    },

    async remove(accountId, clientId) {
      // The consent first: otherwise a silent sign-in could create a new grant while this one is revoked.
      const wasAgreed = await consents.remove(consentId(accountId, clientId));
      const given = await grantRecords.findBy('account', accountId);
      const ending = given.filter(({ value }) => value.clientId === clientId);
      await Promise.all(ending.map(({ id }) => grants.revoke(id)));
      return wasAgreed || ending.length > 0;
    },
  };
}
