// Invitations: an administrator lets one person create an account, even where sign-up is closed. Each is valid for one
// account and a limited time, and its tokens are stored as digests. It has two links: the mailed one verifies the
// address, the one that the administrator passes on does not.
import { parseEmail } from '../accounts/index.ts';
import type { Clock } from '../clock.ts';
import { AppError, invalid } from '../errors.ts';
import { newId, newSecret, secretDigest } from '../ids.ts';
import type { AccountRecord, InvitationRecord } from '../store/collections.ts';
import type { Collection, Query, Stored } from '../store/port.ts';
import { update } from '../store/update.ts';

/** Without its digests. */
export interface Invitation {
  readonly id: string;
  readonly email: string;
  readonly clientId?: string | undefined;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly usedAt?: number | undefined;
  readonly accountId?: string | undefined;
}

/** The tokens of both links are in this response only. */
export interface WithTokens {
  readonly invitation: Invitation;
  readonly mailedToken: string;
  readonly handedToken: string;
}

export interface Invitations {
  /** @throws AppError request.invalid, account.email_taken */
  create(input: {
    email: string;
    expiresInSeconds: number;
    clientId?: string | undefined;
  }): Promise<WithTokens>;
  /**
   * Its links before no longer work.
   * @throws AppError invitation.not_found, also where it was used; account.email_taken
   */
  renew(id: string, expiresInSeconds: number): Promise<WithTokens>;
  query(query: Query): Promise<{ items: Invitation[]; total: number }>;
  /** @throws AppError invitation.not_found */
  remove(id: string): Promise<void>;
  /** @returns undefined for any token that is not valid now; `isMailed`: using it shows control of the mailbox */
  find(token: string): Promise<{ invitation: Invitation; isMailed: boolean } | undefined>;
  /** Uses it up. @returns whether this caller was the one to do so */
  claim(id: string): Promise<boolean>;
  /** Makes it usable again after a failed use. */
  release(id: string): Promise<void>;
  /** Stores which account was created with it. */
  settle(id: string, accountId: string): Promise<void>;
  /** Removes an account's registration record when the account is deleted. */
  removeAllOf(accountId: string): Promise<void>;
}

const TOKEN_LENGTH = newSecret().length;

const toInvitation = ({ id, value, expiresAt }: Stored<InvitationRecord>): Invitation => {
  const { mailedDigest: _mailed, handedDigest: _handed, ...shown } = value;
  return { ...shown, id, expiresAt: expiresAt ?? Number.MAX_SAFE_INTEGER };
};

export function createInvitations(deps: {
  collection: Collection<InvitationRecord>;
  accounts: Pick<Collection<AccountRecord>, 'findBy'>;
  clock: Clock;
}): Invitations {
  const { collection, accounts, clock } = deps;

  /** @throws AppError account.email_taken */
  async function refuseTaken(key: string): Promise<void> {
    if ((await accounts.findBy('email', key)).length === 0) return;
    throw new AppError('account.email_taken', {
      fields: { email: 'This e-mail address is already in use.' },
    });
  }

  const newTokens = () => {
    const [mailedToken, handedToken] = [newSecret(), newSecret()];
    const digests = { mailedDigest: secretDigest(mailedToken), handedDigest: secretDigest(handedToken) };
    return { tokens: { mailedToken, handedToken }, digests };
  };

  return {
    async create({ email: typed, expiresInSeconds, clientId }) {
      const email = parseEmail(typed);
      if (email === undefined) {
        const problem = 'Must be an e-mail address such as alice@example.com.';
        throw invalid({ email: problem });
      }
      await refuseTaken(email.key);
      const { tokens, digests } = newTokens();
      const createdAt = clock();
      const record: InvitationRecord = {
        email: email.address,
        ...digests,
        createdAt,
        ...(clientId !== undefined && { clientId }),
      };
      const expiresAt = createdAt + expiresInSeconds * 1000;
      const stored = await collection.insert(newId(), record, { expiresAt });
      return { invitation: toInvitation(stored), ...tokens };
    },

    async renew(id, expiresInSeconds) {
      const { tokens, digests } = newTokens();
      const known = await collection.find(id);
      if (known?.value.usedAt === undefined && known !== undefined)
        await refuseTaken(parseEmail(known.value.email)?.key ?? '');
      let isRenewed = false;
      const stored = await update(collection, id, (value) => {
        isRenewed = value.usedAt === undefined;
        const expiresAt = clock() + expiresInSeconds * 1000;
        return isRenewed ? { value: { ...value, ...digests }, expiresAt } : undefined;
      });
      if (stored === undefined || !isRenewed) throw new AppError('invitation.not_found');
      return { invitation: toInvitation(stored), ...tokens };
    },

    async query(query) {
      const page = await collection.query(query);
      return { items: page.items.map(toInvitation), total: page.total };
    },

    async remove(id) {
      if (!(await collection.remove(id))) throw new AppError('invitation.not_found');
    },

    async find(token) {
      if (token.length !== TOKEN_LENGTH) return undefined;
      const digest = secretDigest(token);
      const [[mailed], [handed]] = await Promise.all([
        collection.findBy('mailed', digest),
        collection.findBy('handed', digest),
      ]);
      const stored = mailed ?? handed;
      if (stored === undefined || stored.value.usedAt !== undefined) return undefined;
      return { invitation: toInvitation(stored), isMailed: mailed !== undefined };
    },

    async claim(id) {
      let isMine = false;
      const stored = await update(collection, id, (value) => {
        isMine = value.usedAt === undefined;
        return isMine ? { value: { ...value, usedAt: clock() } } : undefined;
      });
      return stored !== undefined && isMine;
    },

    async release(id) {
      await update(collection, id, ({ usedAt: _, ...value }) => ({ value }));
    },

    async settle(id, accountId) {
      await update(collection, id, (value) => ({ value: { ...value, accountId } }));
    },

    async removeAllOf(accountId) {
      await collection.removeBy('account', accountId);
    },
  };
}
