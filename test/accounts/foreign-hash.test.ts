// Imported password hashes: published examples of each library verify; excessive cost or unreadable ones are refused.
import assert from 'node:assert/strict';
import { createHash, pbkdf2Sync, scryptSync } from 'node:crypto';
import { test } from 'node:test';
import { hash as argon2Hash } from 'argon2';
import { hashSync } from 'bcryptjs';
import {
  isForeignHash,
  readPasswordHash,
  verifyForeignHash,
} from '../../src/accounts/passwords/foreign-hash.ts';
import { createPasswords } from '../../src/accounts/passwords/password.ts';
import { isWithin } from '../support/patience.ts';
import { cheapParameters } from './support.ts';

const stored = (text: string): string => {
  const read = readPasswordHash(text);
  assert.ok('hash' in read, `${text}: ${JSON.stringify(read)}`);
  return read.hash;
};

const b64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
const salt = Buffer.from('0123456789abcdef');
const pbkdf2 = (digest: string, iterations: number, password: string): string =>
  b64(pbkdf2Sync(password, salt, iterations, 32, digest));

/** Examples out of the documentation and tests of their libraries, and made by Node's own functions. */
const known: readonly (readonly [string, string, string])[] = [
  ['bcrypt 2a', '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW', 'U*U'],
  ['bcrypt 2y', '$2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW', 'U*U'],
  [
    'passlib PBKDF2',
    '$pbkdf2-sha256$6400$0ZrzXitFSGltTQnBWOsdAw$Y11AchqV4b0sUisdZd0Xr97KWoymNE0LNNrnEgY4H9M',
    'password',
  ],
  [
    'passlib scrypt',
    '$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E',
    'password',
  ],
  [
    'Django PBKDF2',
    `pbkdf2_sha256$1000$seasalt$${pbkdf2Sync('lètmein', 'seasalt', 1000, 32, 'sha256').toString('base64')}`,
    'lètmein',
  ],
  [
    'Django scrypt',
    `scrypt$16384$seasalt$8$1$${scryptSync('lètmein', 'seasalt', 64).toString('base64')}`,
    'lètmein',
  ],
  [
    'Django bcrypt_sha256',
    `bcrypt_sha256$${hashSync(createHash('sha256').update('lètmein').digest('hex'), 4)}`,
    'lètmein',
  ],
  ['Django bcrypt', 'bcrypt$$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW', 'U*U'],
  ['Spring bcrypt', '{bcrypt}$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW', 'U*U'],
  [
    'Werkzeug PBKDF2',
    `pbkdf2:sha256:1000$seasalt$${pbkdf2Sync('lètmein', 'seasalt', 1000, 32, 'sha256').toString('hex')}`,
    'lètmein',
  ],
  [
    'Werkzeug scrypt',
    `scrypt:16384:8:1$seasalt$${scryptSync('lètmein', 'seasalt', 64, { maxmem: 1e8 }).toString('hex')}`,
    'lètmein',
  ],
  [
    'URL-safe base64',
    `$pbkdf2-sha256$i=10$${salt.toString('base64url')}$${pbkdf2Sync('pass61', salt, 10, 32, 'sha256').toString('base64url')}`,
    'pass61',
  ],
  ['PBKDF2 with sha1', `$pbkdf2$1000$${b64(salt)}$${pbkdf2('sha1', 1000, 'pass')}`, 'pass'],
  ['PBKDF2 with sha512', `$pbkdf2-sha512$i=1000,l=32$${b64(salt)}$${pbkdf2('sha512', 1000, 'pass')}`, 'pass'],
];

for (const [name, hash, password] of known) {
  test(`${name}: the imported hash verifies its password and no other`, async () => {
    const kept = stored(hash);
    assert.ok(isForeignHash(kept));
    assert.equal(stored(kept), kept, 'what is stored is read as it is');
    assert.equal(await verifyForeignHash(kept, password), true);
    for (const wrong of [
      '',
      `${password}x`,
      password.toUpperCase() === password ? 'x' : password.toUpperCase(),
    ])
      assert.equal(await verifyForeignHash(kept, wrong), false, wrong);
  });
}

test('imported hash: the password is tried as typed and as normalized here', async () => {
  const decomposed = 'le\u0300tmein';
  for (const original of [decomposed, decomposed.normalize('NFKC')]) {
    const hash = `$pbkdf2-sha256$i=10$${b64(salt)}$${pbkdf2('sha256', 10, original)}`;
    assert.equal(await verifyForeignHash(hash, decomposed), true);
  }
});

test('imported argon2 hash: prefixes, alphabets, and passwords that normalization changes', async () => {
  const passwords = createPasswords({ parameters: cheapParameters, maxInFlight: 1, maxQueued: 9 });
  for (const password of ['10 µm² ´naïve´', '½ ª le\u0300tmein', 'plain words']) {
    const hash = await argon2Hash(password, { memoryCost: 64, timeCost: 2, parallelism: 1 });
    const urlSafe = hash.replaceAll('+', '-').replace(/[^$]+\$[^$]+$/, (end) => end.replaceAll('/', '_'));
    for (const written of [hash, `argon2${hash}`, `{ARGON2ID}${hash}`, urlSafe]) {
      assert.equal(stored(written), hash);
      assert.deepEqual(await passwords.verify(stored(written), password), {
        isValid: true,
        needsRehash: true,
      });
    }
    assert.equal((await passwords.verify(hash, `${password}²`)).isValid, false);
  }
});

test('imported hash: excessive parameters are refused at import and when read from the store', async () => {
  const [s, k] = [b64(salt), b64(Buffer.alloc(32, 1))];
  const hostile = [
    `$pbkdf2-sha256$i=1000000000$${s}$${k}`,
    `$pbkdf2-sha256$i=2000001$${s}$${k}`,
    `$pbkdf2-sha256$i=0$${s}$${k}`,
    `$pbkdf2-sha256$i=99999999999999999999$${s}$${k}`,
    `pbkdf2_sha256$1000000000$seasalt$${k}`,
    `$scrypt$ln=24,r=8,p=1$${s}$${k}`,
    `$scrypt$ln=17,r=8,p=16$${s}$${k}`,
    `$scrypt$ln=1024,r=8,p=1$${s}$${k}`,
    `$scrypt$ln=14,r=8,p=0$${s}$${k}`,
    `scrypt$1000$seasalt$8$1$${k}`,
    `scrypt:1048576:8:1$seasalt$${'00'.repeat(64)}`,
    `pbkdf2:sha256:1000000000$seasalt$${'00'.repeat(32)}`,
    `$argon2id$v=19$m=4194304,t=1,p=1$${s}$${k}`,
    `$argon2id$v=19$m=262144,t=20,p=1$${s}$${k}`,
    `$argon2id$v=19$m=65536,t=1000,p=1$${s}$${k}`,
    `$argon2id$v=19$m=65536,t=1,p=255$${s}$${k}`,
    '$2b$31$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW',
    '$2b$15$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW',
  ];
  for (const text of hostile) {
    assert.ok('problem' in readPasswordHash(text), text);
    if (!isForeignHash(text)) continue;
    const startedAt = performance.now();
    assert.equal(await verifyForeignHash(text, 'password'), false);
    assert.ok(isWithin(performance.now() - startedAt, 500), text);
  }
});

test('imported hash: anything that is no hash is refused', () => {
  const [s, k] = [b64(salt), b64(Buffer.alloc(32, 1))];
  const wrong = [
    '',
    'password',
    '5f4dcc3b5aa765d61d8327deb882cf99',
    '{SSHA}aaaa',
    '$1$salt$hash',
    '$6$salt$hash',
    '$2b$10$short',
    '$2x$10$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW',
    '$argon2id$m=8,t=1,p=1$AAAA$AAAA',
    `$argon2id$v=19$m=19456,t=2,p=1$${s}$`,
    `$argon2id$v=19$m=19456,t=2,p=1$a b$${k}`,
    `$argon2id$v=19$m=19456,t=2,p=1$${s}$${k}$`,
    `$pbkdf2-md5$i=1000$${s}$${k}`,
    `$pbkdf2-constructor$i=1000$${s}$${k}`,
    `$pbkdf2-sha256$i=1000$$${k}`,
    `$pbkdf2-sha256$i=1000$${s}$AA`,
    `$pbkdf2-sha256$i=1000$${s}$\u0000${k}`,
    `$pbkdf2-sha256$i=1e3$${s}$${k}`,
    `$scrypt$ln=14,r=8$${s}$${k}`,
    `$2b$10$${'C'.repeat(600)}`,
  ];
  for (const text of wrong) assert.ok('problem' in readPasswordHash(text), text);
});
