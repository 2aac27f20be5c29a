// The one way to change a stored client: read, compute (which may wait for the schema), replace; repeat after a conflict.
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { ClientRecord } from '../store/collections.ts';
import { type Collection, VersionConflict } from '../store/port.ts';
import type { Client } from './application.ts';

export type ChangeClient = (
  clientId: string,
  options: {
    /** With an expected version, a conflict is an error. */
    readonly ifVersion?: number | undefined;
    /** Without the built-in application no user, administrators included, could sign in to this product's own pages. */
    readonly isOfOurs?: true;
  },
  next: (record: ClientRecord) => Promise<ClientRecord> | ClientRecord,
) => Promise<{ readonly before: Client; readonly after: Client }>;

const changed = (cause?: unknown): AppError =>
  new AppError('account.changed', { cause, message: 'The application was changed since you read it.' });

/** @returns the update loop of a collection; it throws AppError client.not_found, client.built_in and account.changed */
export const createChangeClient =
  ({ collection, clock }: { collection: Collection<ClientRecord>; clock: Clock }): ChangeClient =>
  async (clientId, { ifVersion, isOfOurs }, next) => {
    for (;;) {
      const client = await collection.find(clientId);
      if (client === undefined) throw new AppError('client.not_found');
      if (client.value.origin === 'seed' && isOfOurs !== true) throw new AppError('client.built_in');
      if (ifVersion !== undefined && ifVersion !== client.version) throw changed();
      const record = { ...(await next(client.value)), updatedAt: clock() };
      try {
        return { before: client, after: await collection.replace(clientId, client.version, record) };
      } catch (error) {
        // Each lost round means that another writer succeeded, so this ends.
        if (!(error instanceof VersionConflict)) throw error;
        if (ifVersion !== undefined) throw changed(error);
      }
    }
  };
