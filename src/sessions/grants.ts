// Revokes grants: what a user allowed an application in one session, with every code and token issued from it. The
// grant is removed first: from that moment its tokens are inactive everywhere, whatever a crash leaves behind.
import * as model from '../store/collections.ts';
import type { Collection, EphemeralCollection, Store } from '../store/port.ts';
import * as protocol from '../store/protocol-collections.ts';

/** An application's sign-in, as its ID token says it. */
export interface Login {
  readonly accountId: string;
  readonly clientId: string;
  readonly sid: string;
}

/** A grant of a session. `sid`: undefined where an earlier version stored it. */
interface SessionGrant extends Omit<Login, 'sid'> {
  readonly sid: string | undefined;
  readonly sessionUid: string;
}

export interface Grants {
  /** Revokes one grant and everything issued from it; does nothing if it is already revoked. */
  revoke(grantId: string): Promise<void>;
  revokeOfSession(sessionUid: string): Promise<void>;
  ofSession(sessionUid: string): Promise<SessionGrant[]>;
  /** Those that may be of this sign-in: by its `sid`, or without one by account and application. */
  ofLogin(login: Login): Promise<SessionGrant[]>;
  /** Revokes what an application got in that session, and nothing else. */
  revokeOfClientInSession(sessionUid: string, clientId: string): Promise<void>;
  /** Revokes all grants of an account, except those of the session `exceptSession`. */
  revokeOfAccount(accountId: string, options?: { exceptSession?: string | undefined }): Promise<void>;
  /** Revokes the access tokens for an API, users' and applications' own. Grants may be for others too, and live on. */
  revokeOfApi(apiId: string): Promise<void>;
  /** Revokes all grants of an application, and its own client-credentials tokens. */
  revokeOfClient(clientId: string): Promise<void>;
}

export function createGrants({ store }: { store: Store }): Grants {
  const grants = store.collection(protocol.grants);
  const accessTokens = store.ephemeral(protocol.accessTokens);
  const artifacts: readonly EphemeralCollection<model.ProtocolPayload>[] = [
    store.collection(protocol.refreshTokens),
    accessTokens,
    store.ephemeral(protocol.authorizationCodes),
    store.ephemeral(protocol.deviceCodes),
  ];
  const clientCredentials = store.ephemeral(protocol.clientCredentials);
  const consents: Collection<model.ConsentRecord> = store.collection(model.consents);

  // All grants first: once any token is gone, every other token of the same call is inactive, too.
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

  const read = async (index: string, key: string): Promise<SessionGrant[]> =>
    (await grants.findBy(index, key)).flatMap(({ value }) => {
      const { accountId, clientId, sid, sessionUid } = value;
      const isOfSession =
        typeof accountId === 'string' && typeof clientId === 'string' && typeof sessionUid === 'string';
      return isOfSession
        ? [{ accountId, clientId, sessionUid, sid: typeof sid === 'string' ? sid : undefined }]
        : [];
    });

  return {
    ofSession: (sessionUid) => read('session', sessionUid),
    ofLogin: async ({ accountId, clientId, sid }) =>
      (await read('account', accountId)).filter(
        (grant) => grant.clientId === clientId && (grant.sid ?? sid) === sid,
      ),
    revoke: (grantId) => revokeAll([grantId]),
    revokeOfSession: (sessionUid) => revokeBy('session', sessionUid),

    async revokeOfClientInSession(sessionUid, clientId) {
      const found = await grants.findBy('session', sessionUid);
      await revokeAll(found.filter(({ value }) => value.clientId === clientId).map(({ id }) => id));
    },

    async revokeOfAccount(accountId, { exceptSession } = {}) {
      await revokeBy('account', accountId, exceptSession);
      if (exceptSession !== undefined) return;
      // Also removes tokens whose grant an earlier crash removed: nothing of a deleted account may remain.
      await Promise.all(artifacts.map((collection) => collection.removeBy('account', accountId)));
    },

    async revokeOfApi(apiId) {
      await Promise.all([accessTokens, clientCredentials].map((tokens) => tokens.removeBy('api', apiId)));
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
