// Boot configuration: accepted and refused values, with every problem reported at once.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { ConfigError, loadConfig } from '../../src/config/load.ts';
import { resembling } from '../../src/config/resembling.ts';

const root = mkdtempSync(join(tmpdir(), 'latchkey-config-'));
after(() => rmSync(root, { recursive: true, force: true }));

const freshDir = (): string => mkdtempSync(join(root, 'case-'));
const KEY = `${'k'.repeat(16)}0123456789abcdef`;
const load = (env: Record<string, string | undefined> = {}) =>
  loadConfig({ DATA_DIR: freshDir(), SECRET_KEY: KEY, ...env });

function problemsOf(env: Record<string, string | undefined>): readonly string[] {
  try {
    load(env);
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error.problems;
  }
  return [];
}

function assertOneProblem(env: Record<string, string | undefined>, pattern: RegExp): void {
  const problems = problemsOf(env);
  assert.equal(problems.length, 1, `${JSON.stringify(env)} gave ${JSON.stringify(problems)}`);
  assert.match(problems[0] ?? '', pattern);
}

test('empty environment: a working server on localhost', () => {
  const dataDir = freshDir();
  const config = loadConfig({ DATA_DIR: dataDir });
  const { secretKeys, cookieKeys, ...rest } = config;
  assert.deepEqual(rest, {
    port: 3000,
    host: '',
    baseUrl: 'http://localhost:3000',
    issuer: 'http://localhost:3000/oauth2',
    dataDir,
    mongodbUri: undefined,
    redisUrl: undefined,
    redisTlsVerify: 'on',
    adminToken: undefined,
    metricsToken: undefined,
    admin: undefined,
    trustProxy: 0,
    outboundAllow: [],
    webConcurrency: 1,
    drainSeconds: 0,
    smtpUrl: undefined,
    geoipFile: undefined,
    logLevel: 'info',
    hasPlainAnswers: true,
  });
  assert.equal(secretKeys.length, 1);
  assert.equal(cookieKeys.length, 1);
});

test('values: normalized, and blank means unset', () => {
  const config = load({
    PORT: ' 8080 ',
    BASE_URL: 'HTTPS://ID.Example.com:443/auth//',
    LOG_LEVEL: 'WARN',
    TRUST_PROXY: '',
    ADMIN_TOKEN: '   ',
  });
  assert.equal(config.port, 8080);
  assert.equal(config.baseUrl, 'https://id.example.com/auth');
  assert.equal(config.issuer, 'https://id.example.com/auth/oauth2');
  assert.equal(config.logLevel, 'warn');
  assert.equal(config.trustProxy, 0);
  assert.equal(config.adminToken, undefined);
});

test('BASE_URL: follows PORT; ISSUER stays byte for byte as written', () => {
  assert.equal(load({ PORT: '4711' }).baseUrl, 'http://localhost:4711');
  assert.equal(load({ ISSUER: 'https://ID.example.com/Tenant/' }).issuer, 'https://ID.example.com/Tenant/');
});

test('config: immutable at any depth', () => {
  const config = load({ ADMIN_USERNAME: 'root-admin', ADMIN_PASSWORD: 'correct horse' });
  assert.ok(Object.isFrozen(config));
  assert.ok(Object.isFrozen(config.secretKeys));
  assert.ok(Object.isFrozen(config.admin));
});

test('problems: all are reported at once, each with its variable', () => {
  const problems = problemsOf({
    PORT: '70000',
    BASE_URL: 'localhost:3000',
    ISSUER: 'http://id.example.com/oauth2',
    SECRET_KEY: 'short',
    COOKIE_KEYS: `${KEY},tiny`,
    ADMIN_TOKEN: 'x',
    ADMIN_USERNAME: 'ab',
    ADMIN_PASSWORD: 'short',
    ADMIN_EMAIL: 'nobody',
    TRUST_PROXY: 'true',
    WEB_CONCURRENCY: '65',
    LOG_LEVEL: 'loud',
  });
  const names = problems.map((problem) => problem.split(':', 1)[0]).sort();
  assert.deepEqual(names, [
    'ADMIN_EMAIL',
    'ADMIN_PASSWORD',
    'ADMIN_TOKEN',
    'ADMIN_USERNAME',
    'BASE_URL',
    'COOKIE_KEYS',
    'ISSUER',
    'LOG_LEVEL',
    'PORT',
    'SECRET_KEY',
    'TRUST_PROXY',
    'WEB_CONCURRENCY',
  ]);
});

test('refused environment: leaves nothing behind', () => {
  const dataDir = join(freshDir(), 'new');
  assert.throws(() => loadConfig({ DATA_DIR: dataDir, PORT: 'x' }), ConfigError);
  assert.equal(existsSync(dataDir), false);
});

test('numbers: whole, decimal and in range', () => {
  for (const port of ['-1', '65536', '80.5', '1e3', '0x50', '８０', '80 80', 'NaN']) {
    assertOneProblem({ PORT: port }, /^PORT: .* from 0 to 65535/);
  }
  for (const count of ['0', '65', '2.0', 'auto']) {
    assertOneProblem({ WEB_CONCURRENCY: count }, /^WEB_CONCURRENCY: .* from 1 to 64/);
  }
});

describe('attack: tokens over plain http', () => {
  const reachable = [
    'http://id.example.com',
    'http://192.168.1.5:3000',
    'http://0.0.0.0:3000',
    'http://localhost.example.com',
    'http://127.0.0.1.example.com',
    'http://localhost@example.com',
    'http://[2001:db8::1]',
    'http://128.0.0.1',
    'HTTP://ID.example.com',
  ];
  for (const address of reachable) {
    test(`${address} is refused as BASE_URL and as ISSUER`, () => {
      assertOneProblem({ BASE_URL: address }, /^BASE_URL: .*(plain http|user name)/);
      assertOneProblem({ ISSUER: address }, /^ISSUER: .*(plain http|user name)/);
    });
  }
  test('loopback needs no TLS', () => {
    for (const host of ['localhost', 'app.localhost', '127.0.0.1', '127.8.9.1', '[::1]', '2130706433']) {
      assert.doesNotThrow(() => load({ BASE_URL: `http://${host}:3000` }), host);
    }
  });
});

test('only http(s) addresses without credentials, query or fragment', () => {
  const wrong = [
    'id.example.com',
    'ftp://id.example.com',
    'javascript:alert(1)',
    'https:id.example.com',
    'https://u:p@id.example.com',
    'https://id.example.com/?a=1',
    'https://id.example.com/?',
    'https://id.example.com/#',
    'https://',
  ];
  for (const address of wrong) {
    assertOneProblem({ BASE_URL: address }, /^BASE_URL: /);
    assertOneProblem({ ISSUER: address }, /^ISSUER: /);
  }
});

test('unread variables that resemble ours: the right name; refused where a store', () => {
  const mongodb = 'mongodb://db.example.com/latchkey';
  const cases: readonly (readonly [string, string, string | undefined])[] = [
    ['BASE_ULR', 'https://id.example.com', 'BASE_URL'],
    ['TRUST_PROXIES', '1', 'TRUST_PROXY'],
    ['ADMIN_TOKEN_FIEL', '/run/secrets/token', 'ADMIN_TOKEN_FILE'],
    ['SMTP_HOST', 'mail.example.com', 'SMTP_URL'],
    ['COOKIE_KEY', KEY, 'COOKIE_KEYS'],
    ['LOGLEVEL', 'info', 'LOG_LEVEL'],
    ['REDIS_URI', 'redis://db.example.com', 'REDIS_URL'],
    ['DATABASE_URL', mongodb, 'MONGODB_URI'],
    ['MONGO_URI_FILE', '/run/secrets/uri', 'MONGODB_URI_FILE'],
    ...['PATH', 'HOME', 'HOSTNAME', 'NODE_ENV', 'REDIS_PORT', 'MONGODB_PORT', 'npm_config_loglevel'].map(
      (name) => [name, 'x', undefined] as const,
    ),
    ['DATABASE_URL', 'postgres://db.example.com/shop', undefined],
    ['MONGO_URI', '  ', undefined],
  ];
  for (const [name, value, meant] of cases)
    assert.deepEqual(
      resembling({ [name]: value }).map((one) => one.meant),
      meant === undefined ? [] : [meant],
      name,
    );
  const given = { MONGO_URL: mongodb, REDIS_TLS_URL: 'rediss://db.example.com' };
  assert.deepEqual(resembling({ ...given, MONGODB_URI: mongodb, REDIS_URL_FILE: 'x' }), []);
  for (const name of ['MONGO_URI', 'MONGO_URL', 'MONGODB_URL', 'DATABASE_URL', 'MONGODB_IRU'])
    assertOneProblem({ [name]: mongodb }, new RegExp(`^${name}: is not read, .* Name it MONGODB_URI`));
});

describe('secrets', () => {
  test('never appear in a reported problem', () => {
    const canary = 'CANARY';
    const file = join(freshDir(), 'secret');
    writeFileSync(file, `${canary} with a space and more than thirty-two characters`);
    const environments = [
      { SECRET_KEY: canary },
      { SECRET_KEY: `${KEY},${canary}` },
      { SECRET_KEY: undefined, SECRET_KEY_FILE: file },
      { COOKIE_KEYS: `${canary}${' '.repeat(40)}x` },
      { ADMIN_TOKEN: canary },
      { ADMIN_TOKEN: `${canary}${'é'.repeat(40)}` },
      { ADMIN_TOKEN: canary, ADMIN_TOKEN_FILE: file },
      { METRICS_TOKEN: canary },
      { METRICS_TOKEN: `${canary}${KEY}`, ADMIN_TOKEN: `${canary}${KEY}` },
      { ADMIN_USERNAME: 'admin', ADMIN_PASSWORD: canary },
      { ADMIN_PASSWORD: canary.repeat(3) },
    ];
    for (const env of environments) {
      const problems = problemsOf(env);
      assert.notEqual(problems.length, 0, JSON.stringify(env));
      assert.ok(!problems.join().includes(canary), problems.join());
    }
  });

  test('come from NAME_FILE, without the last line break', () => {
    const file = join(freshDir(), 'token');
    writeFileSync(file, `${KEY}-from-file\r\n`);
    assert.equal(load({ ADMIN_TOKEN_FILE: file }).adminToken, `${KEY}-from-file`);
    const bom = Buffer.from('\uFEFFpassword-of-windows\r\n');
    writeFileSync(file, bom);
    const fromWindows = { ADMIN_USERNAME: 'admin', ADMIN_PASSWORD_FILE: file };
    assert.equal(load(fromWindows).admin?.password, 'password-of-windows');
    const utf16 = Buffer.from('\uFEFFpassword-of-windows\r\n', 'utf16le');
    for (const bytes of [
      utf16,
      utf16.subarray(2),
      Buffer.from(utf16).swap16(),
      Buffer.from(utf16).swap16().subarray(2),
    ]) {
      writeFileSync(file, bytes);
      assertOneProblem(fromWindows, /^ADMIN_PASSWORD_FILE: .*UTF-16\. Save it as UTF-8\.$/);
    }
    writeFileSync(file, '  a password with spaces \n');
    const config = load({ ADMIN_USERNAME: 'admin', ADMIN_PASSWORD_FILE: file });
    assert.equal(config.admin?.password, '  a password with spaces ');
  });

  test('a missing, empty or conflicting file, or a folder, is a problem', () => {
    const dir = freshDir();
    const file = join(dir, 'empty');
    writeFileSync(file, '\n');
    assertOneProblem({ ADMIN_TOKEN_FILE: join(dir, 'none') }, /^ADMIN_TOKEN_FILE: .*ENOENT/);
    assertOneProblem({ ADMIN_TOKEN_FILE: dir }, /^ADMIN_TOKEN_FILE: .*EISDIR/);
    assertOneProblem({ ADMIN_TOKEN_FILE: file }, /^ADMIN_TOKEN_FILE: .*is empty/);
    assertOneProblem({ ADMIN_TOKEN: KEY, ADMIN_TOKEN_FILE: file }, /^ADMIN_TOKEN: both .*Keep one/);
  });

  test('METRICS_TOKEN comes from its file too, and differs from ADMIN_TOKEN', () => {
    const file = join(freshDir(), 'token');
    writeFileSync(file, `${KEY}-metrics\n`);
    assert.equal(load({ METRICS_TOKEN_FILE: file, ADMIN_TOKEN: KEY }).metricsToken, `${KEY}-metrics`);
    assertOneProblem({ METRICS_TOKEN: 'a'.repeat(31) }, /has 31 characters, 32 are needed/);
    assertOneProblem({ METRICS_TOKEN: KEY, ADMIN_TOKEN: KEY }, /^METRICS_TOKEN: equals ADMIN_TOKEN\./);
  });

  test('ADMIN_TOKEN needs 32 characters', () => {
    assertOneProblem({ ADMIN_TOKEN: 'a'.repeat(31) }, /has 31 characters, 32 are needed/);
    assert.equal(load({ ADMIN_TOKEN: KEY }).adminToken, KEY);
  });

  test('a comma-separated list rotates; cookie keys follow it unless given', () => {
    const next = `next-${KEY}`;
    const [only] = load({ SECRET_KEY: KEY }).cookieKeys;
    const both = load({ SECRET_KEY: `${next}, ${KEY}` });
    assert.deepEqual(both.secretKeys, [next, KEY]);
    assert.equal(both.cookieKeys.length, 2);
    assert.equal(both.cookieKeys[1], only);
    assert.ok(!both.cookieKeys.some((key) => both.secretKeys.includes(key)));
    assert.deepEqual(load({ COOKIE_KEYS: KEY, SECRET_KEY: next }).cookieKeys, [KEY]);
    assertOneProblem({ SECRET_KEY: `${KEY},${KEY}` }, /listed twice/);
    assertOneProblem({ COOKIE_KEYS: `${KEY},` }, /key 2 of 2 has 0 characters/);
  });
});

test('first administrator: needs a username and a password', () => {
  assertOneProblem({ ADMIN_USERNAME: 'admin' }, /^ADMIN_USERNAME: needs ADMIN_PASSWORD/);
  assertOneProblem({ ADMIN_PASSWORD: 'long enough' }, /^ADMIN_PASSWORD: needs ADMIN_USERNAME/);
  assertOneProblem({ ADMIN_EMAIL: 'a@example.com' }, /^ADMIN_EMAIL: needs ADMIN_USERNAME/);
  assert.deepEqual(
    load({ ADMIN_USERNAME: 'admin', ADMIN_PASSWORD: 'long enough', ADMIN_EMAIL: 'a@b.example' }).admin,
    {
      username: 'admin',
      password: 'long enough',
      email: 'a@b.example',
    },
  );
});

describe('generated secret key', () => {
  test('is created once, in a folder that only its owner can read', () => {
    const dataDir = join(freshDir(), 'deep', 'data');
    const first = loadConfig({ DATA_DIR: dataDir });
    const second = loadConfig({ DATA_DIR: dataDir });
    assert.deepEqual(first.secretKeys, second.secretKeys);
    assert.ok((first.secretKeys[0] ?? '').length >= 43);
    assert.equal(statSync(join(dataDir, 'secret.key')).mode & 0o777, 0o600);
    assert.equal(statSync(dataDir).mode & 0o777, 0o700);
    assert.deepEqual(readdirSync(dataDir), ['secret.key']);
  });

  test('is not created when SECRET_KEY is given', () => {
    const dataDir = freshDir();
    loadConfig({ DATA_DIR: dataDir, SECRET_KEY: KEY });
    assert.deepEqual(readdirSync(dataDir), []);
  });

  test('is reported when damaged, never replaced', () => {
    const dataDir = freshDir();
    const file = join(dataDir, 'secret.key');
    writeFileSync(file, 'cut off');
    assertOneProblem({ DATA_DIR: dataDir, SECRET_KEY: undefined }, /^SECRET_KEY: .*Restore it from a backup/);
    assert.equal(readFileSync(file, 'utf8'), 'cut off');
  });

  test('a file in the place of the key or the data folder is a problem', () => {
    const file = join(freshDir(), 'file');
    writeFileSync(file, '');
    chmodSync(file, 0o600);
    assertOneProblem({ DATA_DIR: join(file, 'data'), SECRET_KEY: undefined }, /^DATA_DIR: .*ENOTDIR/);
  });

  test('race: processes starting together on an empty folder agree on one key', async () => {
    const dataDir = join(freshDir(), 'data');
    const load = JSON.stringify(new URL('../../src/config/load.ts', import.meta.url).href);
    const program = `
      const { loadConfig } = await import(${load});
      while (Date.now() < Number(process.argv[1]));
      process.stdout.write(loadConfig({ DATA_DIR: process.argv[2] }).secretKeys.join());`;
    const startAt = String(Date.now() + 700);
    const run = () =>
      promisify(execFile)(process.execPath, ['--input-type=module', '-e', program, startAt, dataDir]);
    const keys = (await Promise.all(Array.from({ length: 6 }, run))).map(({ stdout }) => stdout);
    assert.equal(new Set(keys).size, 1);
    assert.ok((keys[0] ?? '').length >= 43);
    assert.deepEqual(readdirSync(dataDir), ['secret.key']);
  });
});

test('SMTP_URL: a mail server, or a problem that does not quote its password', () => {
  const url = 'smtps://ada:s%40crets@mail.example.com';
  assert.equal(load({ SMTP_URL: url }).smtpUrl, url);
  for (const bad of ['mail.example.com:25', 'http://mail.example.com', 'smtp://ada:s@crets@mail/#']) {
    assertOneProblem({ SMTP_URL: bad }, /^SMTP_URL: it is not an address like smtps:/);
    assert.ok(!problemsOf({ SMTP_URL: bad }).join().includes('crets'));
  }
});
