// Fills every list of the admin API, directly in the store, with rows whose fields tie, are missing, and differ in case and
// script.
import { ok } from 'node:assert/strict';
import { securityState } from '../../src/accounts/security-state.ts';
import { fold } from '../../src/model/users/fold.ts';
import * as administration from '../../src/store/administration.ts';
import { apis } from '../../src/store/apis.ts';
import * as model from '../../src/store/collections.ts';
import { passkeys } from '../../src/store/passkeys.ts';
import type { Collection, Store } from '../../src/store/port.ts';
import * as protocol from '../../src/store/protocol-collections.ts';
import { invitations } from '../../src/store/signups.ts';
import { update } from '../../src/store/update.ts';
import type { ApiWorld } from './api-world.ts';

const ROWS = 20;
const NAMES = ['Zoë', 'adam', 'Adam 2', 'émile', 'b_c', 'b%c', '日本', 'a.b*'];
const HOUR_MS = 3_600_000;

/** @returns one of them, over and over */
const one = <const T>(of: readonly T[], at: number): T => {
  const value = of[at % of.length];
  ok(value !== undefined);
  return value;
};

async function copies<T>(collection: Collection<T>, id: string, change: (value: T, at: number) => T) {
  const first = await collection.find(id);
  ok(first, id);
  const { expiresAt } = first;
  for (let at = 0; at < ROWS; at += 1) {
    const value = change(structuredClone(first.value), at);
    await collection.insert(`row-${String((at * 7) % ROWS).padStart(2, '0')}`, value, { expiresAt });
  }
}

export async function addRows({ app, ids }: Pick<ApiWorld, 'app' | 'ids'>): Promise<void> {
  const { store } = app;
  const now = app.now();
  /** Ties: four rows at a time. */
  const timeAt = (at: number): number => now - (at % 5) * HOUR_MS;
  const of = (name: string): string => ids[name] ?? '';

  await copies(store.collection(model.accounts), of('users'), (value, at) => {
    const { lastLoginAt: _, email: __, emailKey: ___, passkeys: ____, ...rest } = value;
    const username = `${one(NAMES, at)}-${at}`;
    const email = `${one(['Anna', 'bert', 'Zora'], at)}${at}@Example.com`;
    return {
      ...rest,
      username,
      usernameKey: fold(username),
      role: one(['user', 'auditor', 'admin'], at),
      isActive: at % 3 !== 0,
      isEmailVerified: at % 2 === 0,
      totpVerified: at % 4 === 0,
      groups: [...one([[], ['staff'], ['ops', 'staff'], ['staff-2']], at)],
      ...(at % 3 === 1 && { email, emailKey: fold(email) }),
      profile: one([{}, { name: 'Zoë Ångström' }, { given_name: 'zoe', family_name: 'O’Brien' }], at),
      ...(at % 4 === 0 && { lastLoginAt: timeAt(at) }),
      ...(at % 5 === 0 && { lockedUntil: now + (at % 2 === 0 ? HOUR_MS : -HOUR_MS) }),
      createdAt: timeAt(at),
      updatedAt: now - (at % 3) * HOUR_MS,
    };
  });
  await copies(store.collection(model.clients), of('clients'), (value, at) => {
    const { client_name: _, ...metadata } = value.metadata;
    const id = `row-${String((at * 7) % ROWS).padStart(2, '0')}`;
    return {
      ...value,
      metadata: { ...metadata, client_id: id, ...(at % 4 !== 0 && { client_name: one(NAMES, at) }) },
      clientType: one(['public', 'confidential'], at),
      isActive: at % 3 !== 0,
      createdAt: timeAt(at),
    };
  });
  await copies(store.collection(model.initialAccessTokens), of('initial-access-tokens'), (value, at) => ({
    ...value,
    createdAt: timeAt(at),
  }));
  await copies(store.collection(administration.groups), 'staff', (value, at) => {
    const { displayName: _, ...rest } = value;
    return {
      ...rest,
      name: `row-${String((at * 7) % ROWS).padStart(2, '0')}`,
      ...(at % 3 !== 0 && { displayName: one(NAMES, at) }),
      createdAt: timeAt(at),
      updatedAt: timeAt(at + 1),
    };
  });
  await copies(store.collection(apis), of('resources'), (value, at) => ({
    ...value,
    name: one(NAMES, at),
    identifier: `https://api${at % 7}.example.com/${at}`,
    introspectionClientId: `api-${at}`,
    createdAt: timeAt(at),
    updatedAt: timeAt(at + 1),
  }));
  await copies(store.collection(administration.apiKeys), of('api-keys'), (value, at) => ({
    ...value,
    name: one(NAMES, at),
    digest: `digest-${at}`,
    createdAt: timeAt(at),
    ...(at % 3 === 0 && { lastUsedAt: timeAt(at + 2) }),
  }));
  await copies(store.collection(model.mails), of('mails'), (value, at) => ({
    ...value,
    to: `${one(NAMES, at)}@example.com`,
    state: one(['queued', 'sent', 'failed', 'kept'], at),
    createdAt: timeAt(at),
    // Nothing is due while the test looks.
    dueAt: now + (1 + (at % 3)) * HOUR_MS,
  }));
  await copies(store.collection(model.sessions), of('sessions'), (value, at) => ({
    ...value,
    ipAddress: one(['203.0.113.7', '2001:db8::1', '10.0.0.1'], at),
    accountId: at % 2 === 0 ? of('users') : 'row-01',
    createdAt: timeAt(at),
    lastActivityAt: timeAt(at + 1),
    expiresAt: now + (at % 4 === 0 ? -HOUR_MS : HOUR_MS),
    ...(at % 5 === 0 && { endedAt: timeAt(at) }),
  }));
  const deliveries = store.collection(model.logoutDeliveries);
  for (let at = 0; at < ROWS; at += 1) {
    await deliveries.insert(`row-${String((at * 7) % ROWS).padStart(2, '0')}`, {
      clientId: of('clients'),
      sub: of('users'),
      sid: `sid-${at}`,
      state: one(['queued', 'delivered', 'failed'], at),
      attempts: at % 5,
      // Nothing is due while the test looks.
      dueAt: now + HOUR_MS,
      createdAt: timeAt(at),
      ...(at % 2 === 0 && { status: 200 }),
    });
  }
  await copies(store.collection(invitations), of('invitations'), (value, at) => ({
    ...value,
    email: `${one(NAMES, at)}@example.com`,
    mailedDigest: `mailed-${at}`,
    handedDigest: `handed-${at}`,
    createdAt: timeAt(at),
  }));
  await addProtocolRows(store, ids, now);
  await addAuditRows(store, now);
  await addOwnedRows(app, of('users'), now);
}

async function addProtocolRows(store: Store, ids: ApiWorld['ids'], now: number): Promise<void> {
  const iat = (at: number): number => Math.floor(now / 1000) - (at % 4) * 60;
  const owners = (at: number) => ({
    accountId: at % 2 === 0 ? ids.users : 'row-01',
    clientId: at % 3 === 0 ? ids.clients : 'row-02',
    iat: iat(at),
  });
  await copies(store.collection(protocol.refreshTokens), ids.tokens ?? '', (value, at) => ({
    ...value,
    ...owners(at),
    grantId: `grant-${at % 3}`,
  }));
  await copies(store.collection(protocol.grants), ids.grant_id ?? '', (value, at) => ({
    ...value,
    ...owners(at),
  }));
}

async function addAuditRows(store: Store, now: number): Promise<void> {
  const collection = store.collection(model.audit);
  for (let at = 0; at < ROWS; at += 1) {
    await collection.insert(`row-${at}`, {
      at: now - (at % 4) * HOUR_MS,
      event: one(['signin.success', 'signin.failure', 'user.created'], at),
      outcome: one(['success', 'failure'], at),
      actorKind: 'user',
      ...(at % 2 === 0 && { actorId: `actor-${at % 3}` }),
      ...(at % 3 === 0 && { targetId: `target-${at % 2}` }),
      ...(at % 4 === 0 && { clientId: 'row-02' }),
      ...(at % 5 === 0 && { ipAddress: '203.0.113.7' }),
    });
  }
}

/** What is read out of an account: its passkeys and trusted browsers. */
async function addOwnedRows(app: ApiWorld['app'], accountId: string, now: number): Promise<void> {
  const { store } = app;
  const keys = store.collection(passkeys);
  const [first] = await keys.findBy('account', accountId);
  ok(first);
  const added = Array.from({ length: ROWS }, (_, at) => `key-${String((at * 7) % ROWS).padStart(2, '0')}`);
  for (const [at, id] of added.entries()) {
    await keys.insert(id, { ...first.value, createdAt: now - (at % 4) * HOUR_MS });
  }
  await update(store.collection(model.accounts), accountId, (value) => ({
    value: { ...value, passkeys: [first.id, ...added].map((id) => ({ id, kind: 'passkey' as const })) },
  }));
  const devices = store.collection(model.trustedDevices);
  const [device] = await devices.findBy('account', accountId);
  const account = await app.app.accounts.find(accountId);
  ok(device && account);
  for (let at = 0; at < ROWS; at += 1) {
    const value = {
      ...device.value,
      boundTo: securityState(account.id, account),
      createdAt: now - (at % 3) * HOUR_MS,
      lastUsedAt: now - (at % 4) * HOUR_MS,
    };
    await devices.insert(`device-${String((at * 7) % ROWS)}`, value, { expiresAt: now + HOUR_MS });
  }
}
