// Password hashes and password rules.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPasswords, defaultHashParameters } from '../../src/accounts/passwords/password.ts';
import { passwordProblems } from '../../src/accounts/passwords/password-rules.ts';
import { AppError } from '../../src/errors.ts';
import { cheapParameters } from './support.ts';

const cheap = () => createPasswords({ parameters: cheapParameters, maxInFlight: 2, maxQueued: 100 });

test('password hash: argon2id, 19 MiB, two passes, one lane, 16-byte salt (R083)', async () => {
  const passwords = createPasswords({ maxInFlight: 1, maxQueued: 1 });
  const hash = await passwords.hash('seven tall lanterns');
  const [, kind, version, parameters, salt = ''] = hash.split('$');
  assert.deepEqual([kind, version], ['argon2id', 'v=19']);
  assert.deepEqual(parameters?.split(',').sort(), ['m=19456', 'p=1', 't=2']);
  assert.equal(Buffer.from(salt, 'base64').length, 16);
  assert.deepEqual(defaultHashParameters, { memoryKib: 19_456, passes: 2, lanes: 1 });
  assert.deepEqual(await passwords.verify(hash, 'seven tall lanterns'), {
    isValid: true,
    needsRehash: false,
  });
  assert.deepEqual(await passwords.verify(hash, 'seven tall lantern'), {
    isValid: false,
    needsRehash: false,
  });
});

test('password hash: two hashes of one password differ', async () => {
  const passwords = cheap();
  assert.notEqual(await passwords.hash('the same'), await passwords.hash('the same'));
});

test('password: not truncated or trimmed; NUL and emoji count; only NFKC is applied (R081)', async () => {
  const passwords = cheap();
  const isSame = async (a: string, b: string) => (await passwords.verify(await passwords.hash(a), b)).isValid;
  assert.equal(await isSame(`${'x'.repeat(199)}a`, `${'x'.repeat(199)}b`), false);
  assert.equal(await isSame('before\0after', 'before\0other'), false);
  assert.equal(await isSame('pass 🦊 word', 'pass 🐺 word'), false);
  assert.equal(await isSame(' blank', 'blank'), false);
  assert.equal(await isSame('Case', 'case'), false);
  assert.equal(await isSame('zo\u00eb', 'zoe\u0308'), true);
});

test('password hash: one of other parameters or kind verifies and is due for renewal', async () => {
  const older = await createPasswords({
    parameters: { ...cheapParameters, passes: 2 },
    maxInFlight: 1,
    maxQueued: 1,
  }).hash('a password');
  assert.deepEqual(await cheap().verify(older, 'a password'), { isValid: true, needsRehash: true });
  assert.deepEqual(await cheap().verify(older, 'another'), { isValid: false, needsRehash: false });
});

test('password hash: a damaged one matches no password and throws nothing', async () => {
  for (const damaged of [
    '',
    'x',
    '$argon2id$',
    '$2b$10$abcdefghijklmnopqrstuv',
    `$argon2id$v=19$m=8,t=1,p=1$${'$'}`,
  ]) {
    assert.deepEqual(await cheap().verify(damaged, 'x'), { isValid: false, needsRehash: false });
  }
});

test('password: an account without a hash costs the same time, medians within a factor of four', async () => {
  const passwords = createPasswords({
    parameters: { memoryKib: 4096, passes: 1, lanes: 1 },
    maxInFlight: 1,
    maxQueued: 9,
  });
  const hash = await passwords.hash('seven tall lanterns');
  await passwords.verify(undefined, 'warm up');
  const times: { known: number[]; unknown: number[] } = { known: [], unknown: [] };
  for (let round = 0; round < 25; round += 1) {
    for (const kind of ['known', 'unknown'] as const) {
      const start = performance.now();
      await passwords.verify(kind === 'known' ? hash : undefined, 'wrong');
      times[kind].push(performance.now() - start);
    }
  }
  const median = (values: number[]): number => values.sort((a, b) => a - b)[12] ?? 0;
  const ratio = median(times.known) / median(times.unknown);
  assert.ok(ratio > 0.25 && ratio < 4, `ratio ${ratio}`);
});

test('password queue: refuses at once when full and serves the rest in order (R139)', async () => {
  const passwords = createPasswords({ parameters: cheapParameters, maxInFlight: 1, maxQueued: 3 });
  const done: number[] = [];
  const waiting = [0, 1, 2, 3].map((n) => passwords.hash('x').then(() => done.push(n)));
  await assert.rejects(
    passwords.hash('x'),
    (error) => error instanceof AppError && error.code === 'server.busy',
  );
  await assert.rejects(
    passwords.verify(undefined, 'x'),
    (error) => error instanceof AppError && error.retryAfterSeconds === 1,
  );
  await Promise.all(waiting);
  assert.deepEqual(done, [0, 1, 2, 3]);
  assert.equal(typeof (await passwords.hash('x')), 'string');
});

test('password rules: length, common passwords and personal data', () => {
  const context = { minLength: 8, username: 'Grace', email: 'g.hopper@example.com' };
  const isTaken = (password: string) => passwordProblems(password, context).length === 0;
  for (const taken of [
    'seven tall lanterns',
    'correct horse battery',
    '🦊🐺🐻🐼🐨🐯🦁🐮',
    'x7#kQ9!z',
    'ö'.repeat(7).concat('abc'),
  ]) {
    assert.equal(isTaken(taken), true, taken);
  }
  assert.equal(isTaken(`${'long sentence '.repeat(9)}x7`), true, '128 characters');
  const refused = [
    'short',
    '🦊🐺🐻',
    `${'long sentence '.repeat(9)}x77`,
    'my-GRACE-123',
    'ＧＲＡＣＥfull1',
    'xG.Hopperx',
  ];
  refused.push('aaaaaaaa', '12345678', '87654321', 'abcdefgh', 'qwertyuiop', 'abcabcabc', 'xyxyxyxyx');
  for (const password of refused) assert.equal(isTaken(password), false, password);
});

test('password rules: error messages never repeat the password', () => {
  for (const password of ['grace-secret-9', 'aaaaaaaa', 'short']) {
    const told = passwordProblems(password, { minLength: 8, username: 'grace' }).join(' ');
    assert.notEqual(told, '');
    assert.equal(told.includes(password), false);
  }
});

test('password rules: a name of one or two letters forbids nothing', () => {
  assert.deepEqual(passwordProblems('seven tall lanterns', { minLength: 8, email: 'e@example.com' }), []);
});
