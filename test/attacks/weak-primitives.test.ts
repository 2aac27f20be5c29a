// Weak primitives, searched in the source: guessable randomness, broken hashes, secrets compared byte by byte,
// packages that run code or change unnoticed (R145), read-then-write in place of a conditional write (R168), and
// revocations that a cache could lose (R175).
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { allCollections } from '../../src/store/all-collections.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');
const paths = await Array.fromAsync(glob('{src,adapters,interactions,scripts}/**/*.ts', { cwd: root }));
const sources = await Promise.all(paths.sort().map(async (path) => ({ path, text: await read(path) })));

/** Lines of the program that fit, comments left out. */
const linesLike = (pattern: RegExp, within: RegExp = /./): string[] =>
  sources
    .filter(({ path }) => within.test(path))
    .flatMap(({ path, text }) =>
      text
        .split('\n')
        .filter((line) => !/^\s*(?:\/\/|\*|\/\*)/.test(line) && pattern.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    );

test('weak primitives: no Math.random, MD5, SHA-1 or unauthenticated cipher', () => {
  ok(sources.length > 250, String(sources.length));
  deepEqual(linesLike(/Math\.random|pseudoRandomBytes|\bprng\b/i), []);
  deepEqual(linesLike(/create(?:Hash|Hmac)\((?!'sha(?:256|512)')/), []);
  deepEqual(linesLike(/createCipheriv\((?!'aes-256-gcm'|ALGORITHM)/), []);
  deepEqual(linesLike(/(?:aes-\d+-(?:cbc|ecb|ctr)|\brc4\b|\bdes\b)/i), []);
});

// What is compared with `===` although it sounds like a secret, and why no one learns anything by its time.
const harmless: readonly RegExp[] = [
  /is_?secret === true/i,
  // The cursor's content, after its MAC was checked in constant time.
  /admin\/api\/cursor\.ts: .*content\[0\] !== digest\(scope\)/,
  // Digests of 256-bit codes on both sides; the caller knows neither.
  /recovery-codes\.ts: .*unused !== digest/,
  // Digests of a random cookie on both sides: the time tells of the digest, which leads nowhere.
  /browser !== (?:secretDigest|browserDigest)\(/,
  /known-browsers\.ts: .*browser\.digest === digest/,
  /authenticate\.ts: .*\bdigest === known\b/,
  /sessions\/sessions\.ts: .*value\.endingOf === ended\.cookieDigest/,
  // Two digests of the store: which sign-out an unfinished ending belongs to.
  /sessions\.ts: .*endingOf === ended\.cookieDigest/,
  // Two values of the operator's own environment, compared once at the start.
  /config\/load\.ts: .*metricsToken === adminToken/,
  // The token and its digest in the proof, both from the same request.
  /dpop\.ts: .*ath !== createHash/,
  // What one person typed twice in one form.
  /password !== form\.get\('confirm_password'\)/,
  // No secrets: a mark, a normal form, names of clients.
  /\bdigest [!=]== (?:USED|NONE)/,
  // One object in memory, twice.
  /(?:confirmed|proven-times)\.ts: .*source === token/,
  /normalized !== password/,
  /clientId (?:===|!==) token\??\.clientId/,
  // The name of a way to authenticate.
  /clients\.ts: .*token_endpoint_auth_method !== stored\./,
  // Two stored hashes: was the password changed meanwhile?
  /authenticate\.ts: .*value\.passwordHash === evaluated/,
  /passwordHash [!=]== [\w.]+\.passwordHash/,
];

test('attack: timing of secret comparisons; each is timingSafeEqual or listed with a reason', () => {
  const name = String.raw`\w*(?:secret|token|digest|signature|mac|hash|proof|password)\w*(?:\([^()]*\))?`;
  const other = String.raw`(?!undefined|null|true|false|''|'|"|0\b|-?\d)`;
  const compared = new RegExp(
    String.raw`(?:\b${name}\s*[!=]==\s*${other}\S)|(?:(?<!typeof )\b(?!undefined|null)[\w.\])]+\s*[!=]==\s*(?:\w+\??\.)*${name}\b)`,
    'i',
  );
  const found = linesLike(compared, /^(?:src|adapters|interactions)\//).filter(
    (line) =>
      !harmless.some((one) => one.test(line)) &&
      !/\.length\b|typeof |\.(?:kind|type|name|state)\b/.test(line),
  );
  deepEqual(found, []);
  // The pattern sees what it must.
  ok(compared.test('if (given === secret) {') && compared.test('return digest(a) === digest(b);'));
  for (const place of [
    'src/clients/secrets.ts',
    'src/oidc/tokens/admin-bearer.ts',
    'src/http/csrf.ts',
    'src/admin/api/cursor.ts',
    'src/second-factors/email-codes.ts',
    'src/accounts/passwords/foreign-hash.ts',
  ])
    match(sources.find(({ path }) => path === place)?.text ?? place, /timingSafeEqual\(/);
});

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}
interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
}

test('changed package: exact versions, SHA-512 locks, the registry only, no install scripts', async () => {
  const manifest: Manifest = JSON.parse(await read('package.json'));
  const lock: { lockfileVersion: number; packages: Readonly<Record<string, Locked>> } = JSON.parse(
    await read('package-lock.json'),
  );
  equal(lock.lockfileVersion, 3);
  for (const [name, version] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })) {
    match(version, /^\d+\.\d+\.\d+$/, name);
    equal(lock.packages[`node_modules/${name}`]?.version, version, name);
  }
  const locked = Object.entries(lock.packages).filter(([path]) => path !== '');
  ok(locked.length > 100);
  for (const [path, { integrity = '', resolved }] of locked) {
    match(integrity, /^sha512-/, path);
    ok(resolved === undefined || resolved.startsWith('https://registry.npmjs.org/'), `${path} ${resolved}`);
  }
  // `node` brings its binary by one (scripts/install.sh allows that alone); nothing that ships has one.
  const withScripts = locked.filter(([, { hasInstallScript }]) => hasInstallScript === true);
  const shipped = withScripts.filter(([path]) =>
    Object.hasOwn(manifest.dependencies, path.replace('node_modules/', '')),
  );
  for (const [path] of shipped) equal(path, 'node_modules/argon2', 'its binaries are in the package');
  match(await read('.npmrc'), /^ignore-scripts=true$/m);
  for (const path of ['Dockerfile', 'scripts/install.sh'])
    match(await read(path), /npm ci [^\n]*--ignore-scripts/, path);
  equal((await read('scripts/install.sh')).match(/--ignore-scripts=false/g)?.length, 1);
});

test('changed package: the SBOM comes from the lockfile with npm alone', async () => {
  const run = promisify(execFile);
  const { stdout } = await run(
    'npm',
    ['sbom', '--package-lock-only', '--omit=dev', '--sbom-format=cyclonedx'],
    { cwd: root, maxBuffer: 20_000_000 },
  );
  const { components }: { components: { name: string; version: string }[] } = JSON.parse(stdout);
  ok(components.some(({ name, version }) => name === 'oidc-provider' && /^\d/.test(version)));
});

test('one-time use: one conditional write in every database, never read then write', () => {
  // Every write to MongoDB asks in its own filter; what is read before decides nothing (mongodb-races tests it).
  const writes = linesLike(
    /rows\.(?:findOneAndUpdate|updateOne|updateMany|replaceOne|findOneAndReplace|deleteOne|deleteMany)\(/,
    /^adapters\/mongodb\/collection\.ts$/,
  );
  ok(writes.length >= 5, writes.join('\n'));
  for (const line of writes) match(line, /isLiveAt\(|isExpiredAt\(/, line);
  const replacing = writes.filter((line) => line.includes('version'));
  equal(replacing.length, 1, 'replace compares the version where it writes');
  deepEqual(linesLike(/\.(?:updateOne|replaceOne|findOneAndReplace)\(/, /^adapters\/mongodb/), []);
});

test('emptied cache: what must not be lost is durable; the rest is listed with its cost', () => {
  const ephemeral: Readonly<Record<string, string>> = {
    access_tokens: 'each counts only while it is found: lost, it is inactive',
    client_credentials: 'as access_tokens',
    client_refusals: 'lost, what was refused before is not explained on the page of its application',
    authorization_codes: 'lost, the sign-in begins again',
    device_codes: 'lost, the device asks again',
    oidc_sessions: 'lost, the browser is signed out',
    interactions: 'lost, the page has expired',
    pkce_runs: 'lost, an application must use PKCE in 20 more exchanges before it has to',
    pushed_requests: 'lost, the application pushes again',
    passkey_challenges: 'lost, the ceremony begins again',
    email_challenges: 'lost, another code is asked for; the count of wrong ones is the account’s',
    signups: 'lost, signing up begins again',
    enrolments: 'lost, one signs in again',
    trials: 'lost, the test begins again',
    one_time: 'lost, a secret is rotated and a form is filled in again',
    rates: 'limits begin anew; the locks that count are in the accounts',
    leases: 'a job may begin at two workers; each is safe to run twice',
  };
  const found = allCollections.filter(({ durability }) => durability === 'ephemeral').map(({ name }) => name);
  deepEqual(found.toSorted(), Object.keys(ephemeral).toSorted());
  for (const name of [
    'accounts',
    'grants',
    'refresh_tokens',
    'replay_markers',
    'sessions',
    'links',
    'api_keys',
  ])
    equal(allCollections.find((one) => one.name === name)?.durability, 'durable', name);
});
