// Browsers that skip the second factor (decision 0014): a random token in a cookie, stored here as a
// digest, for one account in one security state. A trusted device replaces only the second factor: never the
// password, a step-up or the authentication for an administrator's action (R101).
import { type Account, securityState } from '../accounts/index.ts';
import type { Clock } from '../clock.ts';
import { newSecret, secretDigest } from '../ids.ts';
import type { TrustedDeviceRecord } from '../store/collections.ts';
import type { EphemeralCollection } from '../store/port.ts';
import { update } from '../store/update.ts';

/** As shown to its owner and administrators. The id identifies it; the cookie contains another value. */
export interface TrustedDevice {
  readonly id: string;
  readonly label: string;
  readonly ipAddress: string;
  readonly userAgent: string;
  /** Epoch milliseconds, like the ones below. */
  readonly createdAt: number;
  readonly lastUsedAt: number;
  readonly expiresAt: number;
}

export interface TrustedDevices {
  /** Only directly after a second factor; read the account again if that changed it (an enrolment). */
  create(input: {
    account: Account;
    ipAddress: string;
    userAgent: string;
    /** The name by which its owner recognises it. */
    label: string;
  }): Promise<{ id: string; token: string; expiresAt: number }>;
  /** Extends it, so the caller must renew the cookie: it expires trusted_device_seconds from now. */
  check(account: Account, token: string): Promise<boolean>;
  /** The valid ones, most recently used first. */
  list(account: Account): Promise<TrustedDevice[]>;
  /** @returns whether this account had such a device */
  revoke(accountId: string, id: string): Promise<boolean>;
  /** @returns the number of revoked devices */
  revokeAll(accountId: string): Promise<number>;
}

const TOKEN_LENGTH = newSecret().length;
const MAX_LABEL = 100;
const MAX_USER_AGENT = 512;

export function createTrustedDevices(deps: {
  collection: EphemeralCollection<TrustedDeviceRecord>;
  clock: Clock;
  settings: () => { readonly trusted_device_seconds: number };
}): TrustedDevices {
  const { collection, clock, settings } = deps;
  const expiry = (): number => clock() + settings().trusted_device_seconds * 1000;
  const isBound = (device: TrustedDeviceRecord, account: Account): boolean =>
    device.accountId === account.id && device.boundTo === securityState(account.id, account);

  return {
    async create({ account, ipAddress, userAgent, label }) {
      const token = newSecret();
      const expiresAt = expiry();
      const now = clock();
      const device: TrustedDeviceRecord = {
        accountId: account.id,
        label: label.slice(0, MAX_LABEL),
        ipAddress,
        userAgent: userAgent.slice(0, MAX_USER_AGENT),
        createdAt: now,
        lastUsedAt: now,
        boundTo: securityState(account.id, account),
      };
      const id = secretDigest(token);
      await collection.insert(id, device, { expiresAt });
      return { id, token, expiresAt };
    },
    async check(account, token) {
      if (token.length !== TOKEN_LENGTH) return false;
      const last = { isTrusted: false };
      const stored = await update(collection, secretDigest(token), (device) => {
        last.isTrusted = isBound(device, account);
        return last.isTrusted
          ? { value: { ...device, lastUsedAt: clock() }, expiresAt: expiry() }
          : undefined;
      });
      // It was revoked while it was being renewed: the revocation wins.
      return stored !== undefined && last.isTrusted;
    },
    async list(account) {
      const devices = await collection.findBy('account', account.id);
      return devices
        .filter(({ value }) => isBound(value, account))
        .map(({ id, expiresAt = 0, value }) => ({
          id,
          label: value.label,
          ipAddress: value.ipAddress,
          userAgent: value.userAgent,
          createdAt: value.createdAt,
          lastUsedAt: value.lastUsedAt,
          expiresAt,
        }))
        .sort((a, b) => b.lastUsedAt - a.lastUsedAt);
    },
    async revoke(accountId, id) {
      const device = await collection.find(id);
      return device?.value.accountId === accountId && collection.remove(id);
    },
    revokeAll: (accountId) => collection.removeBy('account', accountId),
  };
}
