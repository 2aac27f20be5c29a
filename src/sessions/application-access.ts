// Which applications a person's account is open to, and closing it to one: what was agreed to (consents, which
// outlive sessions) and what was given in each session (grants), put together by application.
import { consents as consentCollection } from '../store/collections.ts';
import type { Store } from '../store/port.ts';
import * as protocol from '../store/protocol-collections.ts';
import { consentId } from './consents.ts';
import type { Grants } from './grants.ts';

export interface ApplicationAccess {
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** Epoch milliseconds: the first thing that still counts. */
  readonly since: number;
}

export interface ApplicationAccesses {
  /** The newest first. */
  list(accountId: string): Promise<ApplicationAccess[]>;
  /** Every token of that application for that person ends, and it must ask again. @returns whether there was anything */
  remove(accountId: string, clientId: string): Promise<boolean>;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** What the library's grant says of scopes (`openid: { scope }`). */
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
      // The agreement first: with it a silent sign-in would make the next grant while this one goes.
      const wasAgreed = await consents.remove(consentId(accountId, clientId));
      const given = await grantRecords.findBy('account', accountId);
      const ending = given.filter(({ value }) => value.clientId === clientId);
      await Promise.all(ending.map(({ id }) => grants.revoke(id)));
      return wasAgreed || ending.length > 0;
    },
  };
}
