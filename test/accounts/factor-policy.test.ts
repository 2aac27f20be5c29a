// The factors an account must keep when its owner removes one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blankAccount } from '../../src/accounts/changes.ts';
import { type FactorPolicy, mayBeLeftWith } from '../../src/accounts/factor-policy.ts';
import type { AccountRecord } from '../../src/store/collections.ts';

const totp = { sealedSecret: 'x', lastStep: 1, enrolledAt: 1 };
const passkey = [{ id: 'a', kind: 'passkey' }] satisfies AccountRecord['passkeys'];
const key = [{ id: 'b', kind: 'security_key' }] satisfies AccountRecord['passkeys'];

const cases: readonly [string, Partial<AccountRecord>, FactorPolicy, boolean][] = [
  ['nothing, where nothing is demanded', {}, { mfaMode: 'optional', authMode: 'password' }, true],
  ['nothing, where one is demanded', {}, { mfaMode: 'required', authMode: 'password' }, false],
  ['an app, where one is demanded', { totp }, { mfaMode: 'required', authMode: 'password' }, true],
  ['a passkey', { passkeys: passkey }, { mfaMode: 'required', authMode: 'password_and_passkey' }, true],
  ['mail', { hasEmailCodes: true }, { mfaMode: 'required', authMode: 'password' }, true],
  [
    "an administrator's mail alone",
    { hasEmailCodes: true, role: 'admin' },
    { mfaMode: 'optional', authMode: 'password' },
    false,
  ],
  [
    "an auditor's mail beside an app",
    { hasEmailCodes: true, totp, role: 'auditor' },
    { mfaMode: 'required', authMode: 'password' },
    true,
  ],
  ['a key that needs a code', { passkeys: key }, { mfaMode: 'optional', authMode: 'passkey_only' }, false],
  ['a passkey alone', { passkeys: passkey }, { mfaMode: 'optional', authMode: 'passkey_only' }, true],
];

for (const [name, fields, policy, expected] of cases) {
  test(`factor removal: ${expected ? 'may' : 'may not'} leave ${name}`, () => {
    assert.equal(mayBeLeftWith({ ...blankAccount(0), ...fields }, policy), expected);
  });
}
