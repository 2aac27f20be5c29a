// Which applications can access a user's account, and revoking that access: consents (which outlive sessions) and the
// grants of each session, combined by application.
import { consents as consentCollection } from '../store/collections.ts';
import type { Store } from '../store/port.ts';
import * as protocol from '../store/protocol-collections.ts';
import { consentId } from './consents.ts';
import type { Grants } from './grants.ts';

export interface ApplicationAccess {
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** Epoch milliseconds: the oldest consent or grant that is still valid. */
  readonly since: number;
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
  if (typeof openid !== 'object' || openid === null || !('scope' in openid)) return [];
  return textOf(openid.scope).split(' ').filter(Boolean);
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

  return {
    async list(accountId) {
      const [given, agreed] = await Promise.all([
        grantRecords.findBy('account', accountId),
        consents.findBy('account', accountId),
      ]);
      const found: ApplicationAccess[] = [
        ...given.map(({ value }) => ({
          clientId: textOf(value.clientId),
          scopes: scopesOf(value.openid),
          since: Number(value.iat ?? 0) * 1000,
        })),
        ...agreed.map(({ value: { clientId, scopes, createdAt } }) => ({
          clientId,
          scopes,
          since: createdAt,
        })),
      ];
      const byClient = Map.groupBy(found, ({ clientId }) => clientId);
      return [...byClient]
        .map(([clientId, parts]) => ({
          clientId,
          scopes: [...new Set(parts.flatMap(({ scopes }) => scopes))],
          since: Math.min(...parts.map(({ since }) => since)),
        }))
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
