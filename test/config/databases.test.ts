// Database configuration: accepted addresses, what they require, and that no message contains part of one.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { ConfigError, loadConfig } from '../../src/config/load.ts';

const folder = mkdtempSync(join(tmpdir(), 'latchkey-databases-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const SECRET_KEY = `${'k'.repeat(16)}0123456789abcdef`;
const MONGODB_URI = 'mongodb://app:hunter%232@db.example.com:27017/latchkey?replicaSet=rs0';
const DATA_DIR = join(folder, 'never-made');

type Env = Record<string, string | undefined>;
const load = (env: Env) => loadConfig({ DATA_DIR, SECRET_KEY, MONGODB_URI, ...env });

function problemsOf(env: Env): readonly string[] {
  try {
    load(env);
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error.problems;
  }
}

test('MongoDB, alone or with Redis: no data folder is needed or created', () => {
  const config = load({ REDIS_URL: 'rediss://:secret@cache.example.com:6380/1' });
  assert.equal(config.mongodbUri, MONGODB_URI);
  assert.equal(config.redisUrl, 'rediss://:secret@cache.example.com:6380/1');
  assert.deepEqual(config.secretKeys, [SECRET_KEY]);
  assert.equal(load({}).redisUrl, undefined);
  assert.equal(existsSync(DATA_DIR), false);
});

test('database addresses: may come from a file', () => {
  const file = join(folder, 'uri');
  writeFileSync(file, `${MONGODB_URI}\n`);
  assert.equal(load({ MONGODB_URI: undefined, MONGODB_URI_FILE: file }).mongodbUri, MONGODB_URI);
});

test('MongoDB: SECRET_KEY is required, as a generated one would be unknown to other processes', () => {
  const problems = problemsOf({ SECRET_KEY: undefined });
  assert.equal(problems.length, 1);
  assert.match(problems[0] ?? '', /^SECRET_KEY: is needed with MONGODB_URI/);
  assert.equal(existsSync(DATA_DIR), false);
});

test('Redis without MongoDB: refused with the reason', () => {
  const problems = problemsOf({ MONGODB_URI: undefined, REDIS_URL: 'redis://localhost' });
  assert.equal(problems.length, 1);
  assert.match(problems[0] ?? '', /^REDIS_URL: needs MONGODB_URI too/);
  assert.equal(existsSync(DATA_DIR), false);
});

test('REDIS_TLS_VERIFY: on by default; off or certificates, as openssl prints them', () => {
  const REDIS_URL = 'rediss://cache.example.com';
  const digest = 'ab'.repeat(32);
  const printed = 'AB:'.repeat(32).slice(0, -1);
  const of = (env: Env) => load({ REDIS_URL, ...env }).redisTlsVerify;
  assert.equal(of({}), 'on');
  assert.equal(load({}).redisTlsVerify, 'on');
  assert.equal(of({ REDIS_TLS_VERIFY: 'OFF' }), 'off');
  assert.deepEqual(of({ REDIS_TLS_VERIFY: `sha256:${digest}` }), [digest]);
  assert.deepEqual(of({ REDIS_TLS_VERIFY: `sha256:${printed}, SHA256:${'0'.repeat(64)}` }), [
    digest,
    '0'.repeat(64),
  ]);
  assert.equal(of({ REDIS_URL: 'rediss-sentinel://a,b/main', REDIS_TLS_VERIFY: 'off' }), 'off');
});

test('REDIS_TLS_VERIFY: anything else is refused, and so is it without TLS', () => {
  const REDIS_URL = 'rediss://cache.example.com';
  for (const value of ['false', 'sha1:ab', `sha256:${'ab'.repeat(31)}`, `sha256:${'ab'.repeat(32)},off`]) {
    const problems = problemsOf({ REDIS_URL, REDIS_TLS_VERIFY: value });
    assert.equal(problems.length, 1, value);
    assert.match(problems[0] ?? '', /^REDIS_TLS_VERIFY: .*sha256:/);
  }
  for (const value of ['off', `sha256:${'ab'.repeat(32)}`]) {
    for (const address of [undefined, 'redis://cache.example.com', 'redis-sentinel://a/main']) {
      const problems = problemsOf({ REDIS_URL: address, REDIS_TLS_VERIFY: value });
      assert.equal(problems.length, 1, value);
      assert.match(problems[0] ?? '', /^REDIS_TLS_VERIFY: is for REDIS_URL with TLS/);
    }
    load({ REDIS_URL: 'redis://cache.example.com', REDIS_TLS_VERIFY: 'on' });
  }
});

const good: Readonly<Record<'MONGODB_URI' | 'REDIS_URL', readonly string[]>> = {
  MONGODB_URI: [
    'mongodb://localhost',
    'mongodb://127.0.0.1:27017/',
    'mongodb://[::1]:27017/latchkey',
    'mongodb://a.example.com:27017,b.example.com:27018,c/latchkey?replicaSet=rs0&w=1',
    'mongodb+srv://user:p%40ss@cluster0.ab1cd.mongodb.net/latchkey?retryWrites=true',
    'mongodb://%2Ftmp%2Fmongodb-27017.sock/latchkey',
  ],
  REDIS_URL: [
    'redis://localhost',
    'redis://user:p%2Fss@10.0.0.1:6379/0',
    'rediss://cache.example.com:6380',
    'redis://a:6379,b:6379,c:6379',
    'redis-sentinel://a:26379,b:26379/main/1?sentinel_password=x',
  ],
};
const bad: typeof good = {
  MONGODB_URI: [
    'hunter2',
    'http://hunter2@localhost',
    'mongodb:localhost/hunter2',
    'mongodb://',
    'mongodb:///hunter2',
    'mongodb://app:hunter2@db:0',
    'mongodb://app:hunter2@db:99999',
    'mongodb://app:hunt%er2@db',
    'mongodb://app:hunter2@home@db',
    'mongodb://app:hunter2/home@db',
    'mongodb://db/hunter2/other',
    'mongodb://db/hunter2$cmd',
    'mongodb://db/latchkey#hunter2',
    'mongodb://hunter2 db',
    'mongodb://hunter2\ndb',
    'mongodb+srv://app:hunter2@db:27017',
    'mongodb+srv://app:hunter2@a,b',
  ],
  REDIS_URL: [
    'localhost:6379/hunter2',
    'https://hunter2@localhost',
    'redis://:hunter2@',
    'redis://:hunter2@host:port',
    'redis://:hunter2/x@host',
    'redis://host/0/1/hunter2',
    'redis+sentinel://hunter2@host/main',
  ],
};

for (const name of ['MONGODB_URI', 'REDIS_URL'] as const) {
  describe(name, () => {
    for (const value of good[name]) {
      test(`accepts ${value}`, () => {
        load({ [name]: value });
      });
    }
    for (const value of bad[name]) {
      test(`attack: the password in a wrong address is printed: ${JSON.stringify(value)}`, () => {
        const problems = problemsOf({ [name]: value });
        assert.equal(problems.length, 1);
        assert.match(problems[0] ?? '', new RegExp(`^${name}: `));
        assert.doesNotMatch(problems.join(), /hunt/);
      });
    }
  });
}
