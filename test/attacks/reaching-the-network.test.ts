// What this server could be made to call (SSRF, CWE-918): the list of every module, ours and of the libraries that the product's
// processes load, that has what opens sockets or asks names, with the reason why it may. A new one fails here, also in a library
// that is updated: its path to the network must be the outbound door (decision 0021), the stores, or mail.
// A process of its own: its network is watched.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** All that the product can load, by the bundler's own resolution: `import()` and `require` as well. */
const ENTRIES = [
  'src/main.ts',
  'src/worker.ts',
  'src/avatars/encode-process.ts',
  'src/accounts/passwords/bcrypt-worker.ts',
];

const OPENS = /^(?:node:)?(?:net|tls|https?|http2|dgram|dns|dns\/promises|inspector|undici|ws|quic)$/;
/** Names of those modules that look at texts or describe requests, and open nothing. */
const HARMLESS = new Set([
  ...['isIP', 'isIPv4', 'isIPv6', 'BlockList', 'SocketAddress', 'STATUS_CODES', 'METHODS'],
  ...['IncomingMessage', 'ServerResponse'],
]);

const OUTBOUND =
  'the outbound door: checked addresses, no redirects, limited in time and size (decision 0021)';
const IN_MEMORY = 'a socket that is never connected, for requests that stay in this process';
const SERVER = 'listens; connects to nothing';
const REDIS = 'the store at REDIS_URL';
const MONGODB = 'the store at MONGODB_URI';
const GIVEN = 'a parameter of that name: the outbound door is handed in';

/** Of ours: what opens sockets, by file. */
const ours: Readonly<Record<string, string>> = {
  'src/oidc/outbound/outbound-fetch.ts': OUTBOUND,
  'src/http/server.ts': SERVER,
  'src/oidc/discovery.ts': IN_MEMORY,
  'src/oidc/library-internals.ts': IN_MEMORY,
  'adapters/redis/pinned.ts': `${REDIS}, where its certificate is pinned`,
};

/** Of libraries. */
const theirs: Readonly<Record<string, string>> = {
  'cookies/index.js': 'prototypes of requests and answers only',
  'koa/lib/application.js': SERVER,
  'koa/lib/request.js': 'isIP only',
  'koa-router/lib/router.js': 'METHODS only',
  'oidc-provider/lib/helpers/sector_validate.js':
    'STATUS_CODES only; fetches by the configured `fetch`, our door',
  'oidc-provider/lib/models/client.js': 'STATUS_CODES only; fetches by the configured `fetch`, our door',
  'ioredis/built/cluster/ClusterOptions.js': `${REDIS}, as a cluster`,
  'ioredis/built/cluster/util.js': `${REDIS}, as a cluster`,
  'ioredis/built/connectors/StandaloneConnector.js': REDIS,
  'ioredis/built/connectors/SentinelConnector/index.js': `${REDIS}, by sentinels`,
  'mongodb/lib/cmap/connect.js': MONGODB,
  'mongodb/lib/cmap/auth/gssapi.js': `${MONGODB}, with Kerberos`,
  'mongodb/lib/connection_string.js': `${MONGODB}, its SRV and TXT records`,
  'mongodb/lib/sdam/srv_polling.js': `${MONGODB}, its SRV record again`,
  'mongodb/lib/utils.js': 'the address of a cloud’s metadata, for MONGODB_URI with its credentials alone',
  'mongodb/lib/client-side-encryption/state_machine.js': 'client-side encryption, which is not used',
  'mongodb/lib/client-side-encryption/auto_encrypter.js': 'client-side encryption, which is not used',
  'nodemailer/dist/esm/smtp-connection/index.js': 'the mail server that an administrator entered',
  'nodemailer/dist/esm/shared/index.js': 'the name of that mail server',
  'nodemailer/dist/esm/shared/url.js': 'isIP only',
  'nodemailer/dist/esm/fetch/cookies.js': 'isIP only',
  'nodemailer/dist/esm/fetch/index.js':
    'contents of mails by address, which `disableUrlAccess` refuses (src/mail/compose.ts)',
};

/** What names the global `fetch` or another way out that needs no import. */
const globals: Readonly<Record<string, string>> = {
  'src/rate-limits/lease.ts': 'a function of its own of that name',
  'src/oidc/outbound/fetch-document.ts': GIVEN,
  'oidc-provider/lib/helpers/defaults.js':
    'a default that our configuration replaces (src/oidc/configuration.ts)',
  'jose/dist/webapi/jwks/remote.js': 'key sets by address, which nothing of ours or of oidc-provider creates',
  '@simplewebauthn/server/esm/helpers/fetch.js':
    'revocation lists: attestation is never verified (decision 0014)',
  '@simplewebauthn/server/esm/helpers/isCertRevoked.js':
    'revocation lists: attestation is never verified (decision 0014)',
  '@simplewebauthn/server/esm/services/metadataService.js':
    'authenticators’ metadata, which nothing initializes',
};

/** A process or thread of another program would be outside of what this list sees. */
const processes: Readonly<Record<string, string>> = {
  'src/process/workers.ts': 'our own processes',
  'src/process/serve.ts': 'our own processes',
  'src/avatars/encode.ts': 'the decoder of pictures, without arguments from outside but numbers',
  'src/accounts/passwords/foreign-hash.ts': 'a thread of ours that hashes',
  'src/accounts/passwords/bcrypt-worker.ts': 'that thread',
  'thread-stream/index.js': 'threads of log transports, of which none is configured',
  'pino/lib/tools.js': 'whether it is the main thread',
  'node-cron/dist/node-cron.js': 'tasks in files of their own, of which there are none',
  'detect-libc/lib/detect-libc.js': 'which C library this system has, when pictures are decoded',
  'sharp/dist/libvips.mjs': 'whether libvips is installed, when pictures are decoded',
  'mongodb/lib/client-side-encryption/mongocryptd_manager.js': 'client-side encryption, which is not used',
};

const SPAWNS = /^(?:node:)?(?:child_process|worker_threads|cluster)$/;
const WITHOUT_IMPORT =
  /(?<![.\w$#])(?:(?:globalThis|global)\.)?(?:fetch|WebSocket|EventSource|getBuiltinModule|_linkedBinding)\b(?!\s*:)/;

/** Without comments and texts. */
const codeOf = (text: string): string =>
  text
    .replace(/\/\*[\s\S]*?\*\//g, ' ')
    .replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''")
    .replace(/(^|[^:\\'"`/])\/\/[^\n]*/g, '$1');

interface Loaded {
  /** As the lists above name it: below the project, or below node_modules. */
  readonly name: string;
  readonly isOurs: boolean;
  readonly text: string;
  /** Outside of the project: of Node, or not installed. */
  readonly outside: readonly string[];
}

const loaded: Loaded[] = [];

before(async () => {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ENTRIES,
    outdir: 'never-written',
    bundle: true,
    write: false,
    metafile: true,
    treeShaking: false,
    platform: 'node',
    format: 'esm',
    loader: { '.node': 'empty' },
    logLevel: 'error',
  });
  for (const [path, { imports }] of Object.entries(metafile.inputs)) {
    const [, inside] = /^.*node_modules\/((?:@[^/]+\/)?[^/]+\/.*)$/.exec(path) ?? [];
    loaded.push({
      name: inside ?? path,
      isOurs: inside === undefined,
      text: readFileSync(join(ROOT, path), 'utf8'),
      outside: imports.filter(({ external }) => external === true).map((one) => one.path),
    });
  }
});

/** The names that a source of ours takes from a module, types left out; undefined: all of it. */
function takenFrom(text: string, module: string): readonly string[] {
  const statement = new RegExp(`import\\s+(?!type\\b)([^;]*?)\\s+from\\s+'${module}'`, 'g');
  return [...text.matchAll(statement)].flatMap(([, clause = '']) =>
    clause
      .split(/[{},]/)
      .map((name) => name.trim())
      .filter((name) => name !== '' && !name.startsWith('type '))
      .map((name) => name.replace(/\s+as\s+.*$/, '')),
  );
}

const opensSockets = ({ isOurs, text, outside }: Loaded): boolean =>
  outside
    .filter((module) => OPENS.test(module))
    .some((module) => !isOurs || takenFrom(text, module).some((name) => !HARMLESS.has(name)));

function assertListed(
  found: readonly Loaded[],
  lists: readonly Readonly<Record<string, string>>[],
  what: string,
): void {
  const listed = new Map(lists.flatMap((list) => Object.entries(list)));
  const names = found.map(({ name }) => name);
  assert.deepEqual(
    names.filter((name) => !listed.has(name)),
    [],
    `${what}: read what it can be made to call, then list it with the reason why it may`,
  );
  assert.deepEqual(
    [...listed.keys()].filter((name) => !names.includes(name)),
    [],
    `${what}: no longer so, take it off the list`,
  );
}

test('network: every module that can open a socket or ask for a name is known, with its reason', () => {
  assert.ok(loaded.length > 1500, `only ${loaded.length} modules`);
  assertListed(loaded.filter(opensSockets), [ours, theirs], 'opens sockets');
});

test('network: every module that names the global fetch, or a way around imports, is known', () => {
  assertListed(
    loaded.filter(({ text }) => WITHOUT_IMPORT.test(codeOf(text))),
    [globals],
    'needs no import',
  );
});

test('network: every module that starts a process or a thread is known', () => {
  assertListed(
    loaded.filter(({ outside }) => outside.some((module) => SPAWNS.test(module))),
    [processes],
    'starts processes',
  );
});

/** Texts of ours outside of comments. */
const productNaming = (pattern: RegExp): string[] =>
  loaded
    .filter(({ isOurs, text }) => isOurs && pattern.test(text.replace(/\/\/[^\n]*|\/\*[\s\S]*?\*\//g, '')))
    .map(({ name }) => name);

test('network: what the reasons of the list rest on is so', () => {
  assert.deepEqual(
    productNaming(/createRemoteJWKSet|jwksCache/),
    [],
    'key sets are read by the outbound door',
  );
  assert.deepEqual(
    loaded.filter(({ name, text }) => name.startsWith('oidc-provider/') && /createRemoteJWKSet/.test(text)),
    [],
  );
  assert.deepEqual(productNaming(/verifyRegistrationResponse/), ['src/passkeys/registration.ts']);
  assert.deepEqual(productNaming(/MetadataService|SettingsService|verifyMDSBlob/), []);
  assert.deepEqual(productNaming(/autoEncryption|ClientEncryption/), []);
  assert.deepEqual(
    productNaming(/\bcreateTransport\b/),
    [],
    'nodemailer’s transports have proxies and OAuth 2.0',
  );
  const compose = loaded.find(({ name }) => name === 'src/mail/compose.ts')?.text ?? '';
  assert.match(compose, /disableFileAccess: true,\s*disableUrlAccess: true/);
  const configuration = loaded.find(({ name }) => name === 'src/oidc/configuration.ts')?.text ?? '';
  assert.match(configuration, /^ {4}fetch: \(target, options\) =>/m);
});

test('network: the checks see planted ways out', () => {
  const planted = (text: string, outside: readonly string[] = []): Loaded => ({
    name: 'src/x.ts',
    isOurs: true,
    text,
    outside,
  });
  assert.equal(opensSockets(planted("import { isIP } from 'node:net';", ['node:net'])), false);
  assert.equal(opensSockets(planted("import { isIP, connect } from 'node:net';", ['node:net'])), true);
  assert.equal(opensSockets(planted("import dns, { type A } from 'node:dns';", ['node:dns'])), true);
  assert.equal(opensSockets({ ...planted('', ['tls']), isOurs: false }), true);
  for (const way of ['await fetch(url)', 'const f = globalThis.fetch;', 'new WebSocket(url)'])
    assert.ok(WITHOUT_IMPORT.test(codeOf(way)), way);
  for (const no of ["'fetch'", '// fetch(', 'pool.fetch()', '{ fetch: 1 }'])
    assert.ok(!WITHOUT_IMPORT.test(codeOf(no)), no);
});
