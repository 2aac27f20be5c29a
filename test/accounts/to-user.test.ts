// What the API and tokens contain of an account.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Account } from '../../src/accounts/account.ts';
import { isUsable } from '../../src/accounts/account.ts';
import { blankAccount } from '../../src/accounts/changes.ts';
import { toUser } from '../../src/accounts/to-user.ts';
import { toClaims } from '../../src/oidc/entitlements/claims.ts';

const at = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const BASE = 'https://id.example';

const account = (over: Partial<Account> = {}): Account => ({
  ...blankAccount(at),
  id: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6',
  version: 3,
  username: 'alice',
  usernameKey: 'alice',
  ...over,
});

test('user view: an account with only a username', () => {
  assert.deepEqual(toUser(account(), at), {
    id: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6',
    username: 'alice',
    email: null,
    other_emails: [],
    role: 'user',
    is_email_verified: false,
    totp_verified: false,
    is_active: true,
    locked_until: null,
    deletion_due_at: null,
    stopped_email_change: null,
    failed_login_attempts: 0,
    last_login_at: null,
    password_changed_at: null,
    passkey_count: 0,
    avatar_id: null,
    groups: [],
    name: null,
    given_name: null,
    family_name: null,
    middle_name: null,
    nickname: null,
    profile: null,
    picture: null,
    website: null,
    gender: null,
    birthdate: null,
    zoneinfo: null,
    locale: null,
    address: null,
    phone_number: null,
    phone_number_verified: false,
    created_at: '2026-01-02T03:04:05.678Z',
    updated_at: '2026-01-02T03:04:05.678Z',
  });
});

test('user view: shows a lock while it lasts', () => {
  const locked = account({ lockedUntil: at + 1000, lockCount: 1, failedLoginAttempts: 5 });
  assert.equal(toUser(locked, at).locked_until, '2026-01-02T03:04:06.678Z');
  assert.equal(toUser(locked, at + 1000).locked_until, null);
  // It ends nothing that is live (decisions 0003 and 0011).
  assert.equal(isUsable(locked), true);
  assert.equal(isUsable(account({ isActive: false })), false);
  assert.equal(isUsable(account({ deletingAt: at })), false);
});

test('user view: neither user nor claims contain a hash or an internal field (R130)', () => {
  const canary = 'CANARY-0f1e2d';
  const full = account({
    passwordHash: `$argon2id$${canary}`,
    usernameKey: canary,
    emailKey: canary,
    email: 'alice@example.com',
    deletingAt: at,
    lockCount: 7,
  });
  // A field that some later release adds to the record.
  const later = { ...full, totpSecret: canary };
  for (const shown of [toUser(later, at), toClaims(later, BASE)]) {
    assert.equal(JSON.stringify(shown).includes(canary), false);
  }
});

test('claims: known values only', () => {
  assert.deepEqual(toClaims(account(), BASE), {
    sub: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6',
    name: 'alice',
    preferred_username: 'alice',
    updated_at: Math.floor(at / 1000),
    roles: ['user'],
    groups: [],
  });
  const known = toClaims(
    account({
      email: 'a@example.com',
      isEmailVerified: true,
      phoneNumber: '+41 44 123 45 67',
      address: { locality: 'Zürich' },
      profile: { given_name: 'Alice', family_name: 'Liddell', locale: 'de-CH' },
      role: 'admin',
    }),
    BASE,
  );
  assert.equal(known.name, 'Alice Liddell');
  assert.deepEqual([known.email, known.email_verified], ['a@example.com', true]);
  assert.deepEqual([known.phone_number, known.phone_number_verified], ['+41 44 123 45 67', false]);
  assert.deepEqual(known.address, { locality: 'Zürich' });
  assert.deepEqual([known.locale, known.roles], ['de-CH', ['admin']]);
  assert.equal(toClaims(account({ profile: { name: 'Al', given_name: 'Alice' } }), BASE).name, 'Al');
  assert.equal(toClaims(account({ profile: { family_name: 'Liddell' } }), BASE).name, 'Liddell');
});
