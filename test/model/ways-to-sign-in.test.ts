// The table of ways to sign in: what they are worth together, and that their values of `amr` stand nowhere else.
import { deepEqual, equal } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { classOfMethods } from '../../src/accounts/freshness.ts';
import {
  AMR_WORDS,
  amrOf,
  amrOfPasskey,
  WAYS,
  type WayToSignIn,
  wayOf,
} from '../../src/model/ways-to-sign-in.ts';

const worth: readonly (readonly [reached: number, ...ways: WayToSignIn[]])[] = [
  [0],
  [1, 'password'],
  [1, 'email_link'],
  [0, 'totp'],
  [0, 'email_code'],
  [0, 'recovery'],
  [0, 'security_key'],
  [3, 'passkey'],
  [0, 'totp', 'email_code', 'recovery'],
  [1, 'password', 'email_link'],
  [3, 'password', 'totp'],
  [3, 'password', 'recovery'],
  [2, 'password', 'email_code'],
  [3, 'password', 'security_key'],
  [3, 'email_link', 'totp'],
  [3, 'email_link', 'recovery'],
  // Both show the same mailbox.
  [1, 'email_link', 'email_code'],
  [2, 'email_link', 'email_code', 'password'],
  [3, 'email_link', 'security_key'],
  [3, 'security_key', 'totp'],
  [3, 'security_key', 'recovery'],
  [2, 'security_key', 'email_code'],
];

for (const [expected, ...ways] of worth)
  test(`ways to sign in: ${ways.join(', ') || 'none'}: class ${expected}`, () => {
    equal(
      classOfMethods((way) => ways.includes(way)),
      expected,
    );
  });

test('ways to sign in: what each adds to amr (RFC 8176)', () => {
  deepEqual(amrOf('password'), ['pwd']);
  deepEqual(amrOf('email_link'), ['email_link']);
  deepEqual(amrOf('totp'), ['otp', 'mfa']);
  deepEqual(amrOf('recovery'), ['otp', 'mfa']);
  deepEqual(amrOf('email_code'), ['otp']);
  const key = { deviceType: 'singleDevice', isUserVerified: false } as const;
  deepEqual(amrOfPasskey(key), ['hwk']);
  deepEqual(amrOfPasskey({ deviceType: 'multiDevice', isUserVerified: true }), ['swk', 'user', 'mfa']);
});

test('ways to sign in: every second step with a code is one that forms can name', () => {
  const named = WAYS.flatMap(({ id, factor, step }) => (step === 'second' ? [[factor, id]] : []));
  deepEqual(Object.fromEntries(named), wayOf);
});

test('ways to sign in: values of amr stand in no more than four files of the product', () => {
  const root = new URL('../../', import.meta.url);
  const values = Object.keys(AMR_WORDS).filter((value) => value !== 'user' && value !== 'mfa');
  const literal = new RegExp(`'(?:${values.join('|')})'`);
  const files = ['src', 'adapters', 'interactions', 'scripts', 'templates'].flatMap((folder) =>
    readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:ts|njk|js)$/.test(name) && !name.startsWith('strings'))
      .filter((name) => literal.test(readFileSync(new URL(`${folder}/${name}`, root), 'utf8')))
      .map((name) => `${folder}/${name}`),
  );
  deepEqual(files.sort(), [
    'interactions/mailed-links.ts',
    'interactions/sign-in-report.ts',
    'src/model/ways-to-sign-in.ts',
  ]);
});
