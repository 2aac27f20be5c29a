// Redis addresses: their meaning, what is refused, and that no refusal contains the password.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeAddress, parseRedisUrl } from '../../adapters/redis/url.ts';
import { StoreUnavailable } from '../../src/store/port.ts';

const said = (url: string) =>
  Object.fromEntries(Object.entries(parseRedisUrl(url)).filter(([, value]) => value !== undefined));

test('Redis address: one server, with and without TLS, user and database', () => {
  const plain = { hosts: [{ host: 'localhost', port: 6379 }], isTls: false, db: 0, isCluster: false };
  assert.deepEqual(said('redis://localhost'), plain);
  assert.deepEqual(said('redis://localhost:6379/'), plain);
  assert.deepEqual(said('rediss://u%40x:p%3A%2F@r.example.com:7000/12'), {
    hosts: [{ host: 'r.example.com', port: 7000 }],
    isTls: true,
    username: 'u@x',
    password: 'p:/',
    db: 12,
    isCluster: false,
  });
  assert.deepEqual(said('redis://:secret@[::1]:1').hosts, [{ host: '::1', port: 1 }]);
  assert.equal(said('redis://:secret@h').password, 'secret');
});

test('Redis address: several hosts are a cluster, and sentinels name a master', () => {
  const hosts = [
    { host: 'a', port: 1 },
    { host: 'b', port: 6379 },
  ];
  assert.deepEqual(said('redis://a:1,b'), { hosts, isTls: false, db: 0, isCluster: true });
  assert.equal(said('rediss://a?cluster').isCluster, true);
  const sentinel = parseRedisUrl('redis-sentinel://u:p@a:1,b/my-master/2?sentinel_password=s');
  assert.equal(sentinel.sentinelName, 'my-master');
  assert.deepEqual([sentinel.db, sentinel.sentinelPassword, sentinel.isCluster], [2, 's', false]);
  assert.equal(sentinel.hosts[1]?.port, 26_379);
  assert.equal(describeAddress(sentinel), 'my-master at a:1, b:26379');
});

test('Redis address: a malformed one is refused with an example, without the password (R147)', () => {
  const wrong = [
    '',
    'http://hunter2@h',
    'redis://',
    'redis://u:hunter2@',
    'redis://u:hunter2@h:0',
    'redis://u:hunter2@h:99999',
    'redis://u:hunter2@h/name',
    'redis://u:hunter2@h/0/1',
    'redis://u:hunter2%@h',
    'redis://u:hunter2@a,b/1',
    'redis-sentinel://u:hunter2@h',
    'redis://u:hunter2@h h',
  ];
  for (const url of wrong) {
    assert.throws(
      () => parseRedisUrl(url),
      (error) => {
        assert.ok(error instanceof StoreUnavailable, url);
        return /redis:\/\/user:password@host/.test(error.message) && !error.message.includes('hunter2');
      },
      url,
    );
  }
});
