// Encryption at rest.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSealer, UnsealError } from '../../src/keys/sealing.ts';

const [one, two, three] = ['one', 'two', 'three'].map((name) => `${name}-`.padEnd(43, 'x')) as [
  string,
  string,
  string,
];

const refusedFor = (reason: UnsealError['reason']) => (error: unknown) =>
  error instanceof UnsealError && error.reason === reason;

test('sealing: opens again, and never looks the same twice', () => {
  const sealer = createSealer([one]);
  for (const text of ['', 'x', 'Zürich 🦊', 'a'.repeat(100_000)]) {
    const sealed = sealer.seal('test', text);
    assert.equal(sealer.open('test', sealed), text);
    assert.notEqual(sealer.seal('test', text), sealed);
    assert.match(sealed, /^v1\.[\w-]{8}\.[\w-]{16}\.[\w-]{22,}$/);
  }
});

test('attack: sealed for one purpose, opened for another', () => {
  const sealer = createSealer([one]);
  const sealed = sealer.seal('signing key a', 'secret');
  assert.throws(() => sealer.open('signing key b', sealed), refusedFor('not_authentic'));
});

test('attack: any changed character is detected', () => {
  const sealer = createSealer([one]);
  const sealed = sealer.seal('test', 'a secret');
  for (let at = 0; at < sealed.length; at += 1) {
    const other = sealed[at] === 'A' ? 'B' : 'A';
    const changed = sealed.slice(0, at) + other + sealed.slice(at + 1);
    // The last character carries bits that base64url leaves out; where the bytes are the same, it is the same text.
    const isSameBytes = Buffer.from(changed.split('.')[3] ?? '', 'base64url').equals(
      Buffer.from(sealed.split('.')[3] ?? '', 'base64url'),
    );
    if (at === sealed.length - 1 && isSameBytes) continue;
    assert.throws(() => sealer.open('test', changed), UnsealError, `at ${at}`);
  }
  for (const nonsense of ['', 'v1', 'v1...', 'v2.a.b.c', `${sealed}.x`, sealed.slice(0, 40), 'v1.!.!.!']) {
    assert.throws(() => sealer.open('test', nonsense), refusedFor('malformed'), nonsense);
  }
});

test('attack: a shortened authentication tag is refused', () => {
  const sealer = createSealer([one]);
  const [format, keyId, iv, bytes = ''] = sealer.seal('test', '').split('.');
  const short = Buffer.from(bytes, 'base64url').subarray(0, 4).toString('base64url');
  assert.throws(() => sealer.open('test', [format, keyId, iv, short].join('.')), refusedFor('malformed'));
});

test('key rotation: the newest key seals, each listed one opens, a removed one does not', () => {
  const before = createSealer([one]).seal('test', 'secret');
  const during = createSealer([two, one]);
  assert.equal(during.open('test', before), 'secret');
  assert.equal(during.needsReseal(before), true);
  const after = during.seal('test', 'secret');
  assert.equal(during.needsReseal(after), false);
  assert.equal(createSealer([two]).open('test', after), 'secret');
  assert.throws(() => createSealer([two]).open('test', before), refusedFor('unknown_key'));
  assert.throws(() => createSealer([three, two]).open('test', before), refusedFor('unknown_key'));
  assert.throws(() => createSealer([]), TypeError);
});

test('sealing: neither output nor errors contain any part of key or plaintext', () => {
  const sealer = createSealer([one]);
  const sealed = sealer.seal('test', 'the secret text');
  assert.equal(sealed.includes(one.slice(0, 8)), false);
  try {
    sealer.open('other', sealed);
    assert.fail('it opened');
  } catch (error) {
    assert.ok(error instanceof UnsealError);
    assert.equal(`${error.message}${error.stack}`.includes(one), false);
  }
});
