// What the tests of the second factors share: an account with the factors of two processes on one store, and an
// authenticator app of our own (RFC 6238), so that codes are not made by the library that checks them.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { Account } from '../../src/accounts/account.ts';
import { createSealer } from '../../src/keys/sealing.ts';
import { createLinks, type Links } from '../../src/recovery/links.ts';
import { createSecondFactors, type SecondFactors } from '../../src/second-factors/second-factors.ts';
import * as model from '../../src/store/collections.ts';
import type { Store } from '../../src/store/port.ts';
import { type Backend, createWorld, goodPassword, type World } from '../accounts/support.ts';

export const secretKeys = ['0123456789abcdef0123456789abcdef'];

const settings = () => ({
  email_code_seconds: 600,
  trusted_device_seconds: 30 * 86_400,
  password_reset_link_seconds: 1800,
  email_verification_link_seconds: 86_400,
  magic_link_seconds: 900,
  invitation_link_seconds: 7 * 86_400,
});

/** The second factors of one process. */
export function createFactors(
  store: Store,
  now: () => number,
  options: { secretKeys?: readonly string[]; issuer?: string } = {},
): SecondFactors {
  const keys = options.secretKeys ?? secretKeys;
  return createSecondFactors({
    accounts: store.collection(model.accounts),
    emailChallenges: store.ephemeral(model.emailChallenges),
    trustedDevices: store.collection(model.trustedDevices),
    rates: store.ephemeral(model.rates),
    sealer: createSealer(keys),
    secretKeys: keys,
    clock: now,
    issuerName: () => options.issuer ?? 'Latchkey',
    settings,
  });
}

export interface FactorWorld extends World {
  readonly factors: SecondFactors;
  /** The same in another process. */
  readonly elsewhere: SecondFactors;
  readonly links: Links;
  readonly linksElsewhere: Links;
  readonly id: string;
  /** The account as it is now. */
  current(): Promise<Account>;
  /** @returns the secret of the authenticator that was enrolled, one time step ago */
  enrolTotp(id?: string): Promise<string>;
  enableEmail(): Promise<void>;
}

/** Alice, with a verified address and no second factor yet. */
export async function createFactorWorld(backend: Backend): Promise<FactorWorld> {
  const world = createWorld(backend);
  const other = backend.reopen();
  const linksOf = (store: Store): Links =>
    createLinks({
      collection: store.collection(model.links),
      accounts: store.collection(model.accounts),
      clock: backend.now,
      settings,
    });
  const factors = createFactors(backend.store, backend.now);
  const { id } = await world.accounts.create({
    username: 'alice',
    password: goodPassword,
    email: 'alice@example.com',
    isEmailVerified: true,
  });
  const accountOf = async (accountId: string): Promise<Account> => {
    const account = await world.accounts.find(accountId);
    assert.ok(account);
    return account;
  };
  return {
    ...world,
    factors,
    elsewhere: createFactors(other, backend.now),
    links: linksOf(backend.store),
    linksElsewhere: linksOf(other),
    id,
    current: () => accountOf(id),
    async enrolTotp(accountId = id) {
      const { secret, pending } = factors.totp.begin(await accountOf(accountId));
      const code = totpCode(secret, backend.now());
      assert.equal(await factors.totp.confirm(accountId, pending, code), 'ok');
      backend.advance(30_000);
      return secret;
    },
    enableEmail: () => factors.setEmailFactor(id, true),
  };
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function fromBase32(text: string): Buffer {
  const bits = Array.from(text, (character) => BASE32.indexOf(character).toString(2).padStart(5, '0')).join(
    '',
  );
  const bytes = bits.match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}

/** RFC 6238 §4 over RFC 4226 §5.3. @param at epoch milliseconds */
export function totpCode(secret: string | Buffer, at: number, digits = 6): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(at / 30_000)));
  const key = typeof secret === 'string' ? fromBase32(secret) : secret;
  const mac = createHmac('sha1', key).update(counter).digest();
  const offset = mac.readUInt8(19) & 0xf;
  const number = mac.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/** A code that is right for none of the given ones. */
export function wrongCode(...right: readonly string[]): string {
  const candidates = Array.from({ length: right.length + 1 }, (_, n) => String(n * 111_111).padStart(6, '0'));
  return candidates.find((code) => !right.includes(code)) ?? '';
}

/** For an authenticator: right neither now nor one step away. */
export const wrongTotp = (secret: string, at: number): string =>
  wrongCode(...[-30_000, 0, 30_000].map((ms) => totpCode(secret, at + ms)));

export const timesOf = <T>(all: readonly T[], one: T): number => all.filter((each) => each === one).length;
