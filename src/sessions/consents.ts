// What users consented to, kept across sessions, so that each application asks once per scope.
import { isPassing, registeredId } from '../client-ids.ts';
import type { Clock } from '../clock.ts';
import type { Events } from '../events/index.ts';
import type { ConsentRecord } from '../store/collections.ts';
import { AlreadyExists, type Collection } from '../store/port.ts';
import { update } from '../store/update.ts';

interface MoreConsent {
  /** What the application says about itself (src/clients/quarantine.ts). */
  readonly statement?: string | undefined;
  /** What is granted at an API, by its internal id. */
  readonly api?: { readonly id: string; readonly entries: readonly string[] } | undefined;
}

export interface Consents {
  find(accountId: string, clientId: string): Promise<ConsentRecord | undefined>;
  /** Adds to earlier consent to the same statement; recorded before it is granted. Of a client that passes nothing is kept. */
  add(
    accountId: string,
    clientId: string,
    scopes: readonly string[],
    claims: readonly string[],
    more?: MoreConsent,
  ): Promise<void>;
  /** Stores nothing but the event. */
  refuse(accountId: string, clientId: string): Promise<void>;
  removeOfAccount(accountId: string): Promise<void>;
  /** Those given or widened since: the person is asked again. @param since epoch milliseconds */
  removeSince(accountId: string, since: number): Promise<void>;
}

/** @returns the id of a user's consent to an application */
export const consentId = (accountId: string, clientId: string): string => `${accountId}:${clientId}`;

interface Deps {
  readonly collection: Collection<ConsentRecord>;
  readonly clock: Clock;
  readonly events: Pick<Events, 'record'>;
}

export function createConsents({ collection, clock, events }: Deps): Consents {
  async function widenConsent(
    accountId: string,
    clientId: string,
    scopes: readonly string[],
    claims: readonly string[],
    { statement, api }: MoreConsent,
  ): Promise<void> {
    const id = consentId(accountId, clientId);
    const now = clock();
    const nothing: ConsentRecord = {
      accountId,
      clientId,
      scopes: [],
      claims: [],
      ...(statement !== undefined && { statement }),
      createdAt: now,
      updatedAt: now,
    };
    const widen = (last: ConsentRecord): ConsentRecord => {
      const known = last.statement === statement ? last : nothing;
      return {
        ...known,
        scopes: [...new Set([...known.scopes, ...scopes])],
        claims: [...new Set([...known.claims, ...claims])],
        ...(api !== undefined && {
          apis: {
            ...known.apis,
            [api.id]: [...new Set([...(known.apis?.[api.id] ?? []), ...api.entries])],
          },
        }),
        updatedAt: now,
      };
    };
    const widened = await update(collection, id, (known) => ({ value: widen(known) }));
    if (widened !== undefined) return;
    const first = widen(nothing);
    try {
      await collection.insert(id, first);
    } catch (error) {
      if (!(error instanceof AlreadyExists)) throw error;
      await update(collection, id, (known) => ({ value: widen(known) }));
    }
  }

  return {
    async find(accountId, clientId) {
      return (await collection.find(consentId(accountId, registeredId(clientId))))?.value;
    },

    async add(accountId, clientId, scopes, claims, more = {}) {
      if (isPassing(clientId)) return;
      const { api } = more;
      const details = {
        scopes,
        claims,
        ...(api !== undefined && { api_id: api.id, api_entries: api.entries }),
      };
      // In parallel, they share a commit.
      await Promise.all([
        events.record({ event: 'consent.granted', owner: accountId, clientId, details }),
        widenConsent(accountId, clientId, scopes, claims, more),
      ]);
    },

    async refuse(accountId, clientId) {
      if (isPassing(clientId)) return;
      await events.record({ event: 'consent.refused', owner: accountId, clientId });
    },

    async removeOfAccount(accountId) {
      await collection.removeBy('account', accountId);
    },
    async removeSince(accountId, since) {
      const all = await collection.findBy('account', accountId);
      const given = all.filter(({ value }) => value.updatedAt >= since);
      await Promise.all(given.map(({ id }) => collection.remove(id)));
    },
  };
}
