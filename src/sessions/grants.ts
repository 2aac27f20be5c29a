// The end of grants: what a person allowed an application in one session, with every code and token born from it.
// The grant goes first: from that moment its tokens count as inactive everywhere, whatever a crash leaves behind.
import * as model from '../store/collections.ts';
import type { Collection, EphemeralCollection, Store } from '../store/port.ts';
import * as protocol from '../store/protocol-collections.ts';

export interface Grants {
  /** Ends one grant and everything born from it; harmless when it is gone already. */
  revoke(grantId: string): Promise<void>;
  revokeOfSession(sessionUid: string): Promise<void>;
  /** Revokes what a test sign-in of the application obtained in that session (src/clients/test-sign-ins.ts), and nothing else. */
  revokeTrials(sessionUid: string, clientId: string): Promise<void>;
  /** Ends all grants of an account, but those of one session if `exceptSession` names it. */
  revokeOfAccount(accountId: string, options?: { exceptSession?: string | undefined }): Promise<void>;
  /** Ends all grants of an application, and the tokens it got for itself. */
  revokeOfClient(clientId: string): Promise<void>;
}

export function createGrants({ store }: { store: Store }): Grants {
  const grants = store.collection(protocol.grants);
  const artifacts: readonly EphemeralCollection<model.ProtocolPayload>[] = [
    store.collection(protocol.refreshTokens),
    store.ephemeral(protocol.accessTokens),
    store.ephemeral(protocol.authorizationCodes),
    store.ephemeral(protocol.deviceCodes),
  ];
  const clientCredentials = store.ephemeral(protocol.clientCredentials);
  const consents: Collection<model.ConsentRecord> = store.collection(model.consents);

  // All grants first, so that whichever token is gone tells that nothing else of the same act is alive.
  const revokeAll = async (grantIds: readonly string[]): Promise<void> => {
    await Promise.all(grantIds.map((id) => grants.remove(id)));
    await Promise.all(
      grantIds.flatMap((id) => artifacts.map((collection) => collection.removeBy('grant', id))),
    );
  };
  const revokeBy = async (index: string, key: string, exceptSession?: string): Promise<void> => {
    const found = await grants.findBy(index, key);
    const ending = found.filter(
      ({ value }) => exceptSession === undefined || value.sessionUid !== exceptSession,
    );
    await revokeAll(ending.map(({ id }) => id));
  };

  return {
    revoke: (grantId) => revokeAll([grantId]),
    revokeOfSession: (sessionUid) => revokeBy('session', sessionUid),

    async revokeTrials(sessionUid, clientId) {
      const found = await grants.findBy('session', sessionUid);
      const ending = found.filter(({ value }) => value.isTrial === true && value.clientId === clientId);
      await revokeAll(ending.map(({ id }) => id));
    },

    async revokeOfAccount(accountId, { exceptSession } = {}) {
      await revokeBy('account', accountId, exceptSession);
      if (exceptSession !== undefined) return;
      // What lost its grant earlier (a crash half-way) goes too: nothing of a deleted account may stay.
      await Promise.all(artifacts.map((collection) => collection.removeBy('account', accountId)));
    },

    async revokeOfClient(clientId) {
      await revokeBy('client', clientId);
      await Promise.all([
        ...artifacts.map((collection) => collection.removeBy('client', clientId)),
        clientCredentials.removeBy('client', clientId),
        consents.removeBy('client', clientId),
      ]);
    },
  };
}
