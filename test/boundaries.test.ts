// Holds the shape of the code (docs/architecture.md): who may import whom, one door per vendor, where environment,
// console and randomness may be touched, how long files get. Each test reports all violations at once.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { longFunctions } from './support/long-functions.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

interface Source {
  /** Relative to the project, with forward slashes. */
  readonly path: string;
  readonly text: string;
  /** Without comments and the contents of strings, so that only code is judged. */
  readonly code: string;
  readonly imports: readonly string[];
}

function filesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort();
}

/** Comments and texts blanked out; line by line enough for our own formatted code. */
function codeOf(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' '))
    .replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''")
    .replace(/(^|[^:\\'"`/])\/\/[^\n]*/g, '$1');
}

const specifier = /(?:^|\n)\s*(?:import|export)\s(?:[^'";]*?\sfrom\s*)?'([^']+)'|\bimport\(\s*'([^']+)'/g;

const importsOf = (text: string): string[] =>
  [...text.matchAll(specifier)].map((match) => match[1] ?? match[2] ?? '');

const read = (path: string): Source => {
  const text = readFileSync(join(root, path), 'utf8');
  return { path, text, code: codeOf(text), imports: importsOf(text) };
};

const product = ['src', 'adapters', 'interactions'].flatMap(filesIn).map(read);
const scripts = filesIn('scripts').map(read);
const tests = filesIn('test').map(read);

function assertNone(violations: readonly string[]): void {
  assert.equal(violations.length, 0, `\n${violations.join('\n')}\n`);
}

// ------------------------------------------------------------------------------------------- who may import whom

/**
 * The rooms of the house, from the ground up. A file imports from lower floors and from its own room, by files of any
 * depth; rooms of one floor do not know each other. `ground` is the files at the top of src/ that need nothing.
 */
const floors: readonly (readonly string[])[] = [
  ['ground'],
  ['model'],
  ['config', 'store', 'api'],
  ['jobs', 'events', 'places'],
  ['audit', 'settings', 'keys', 'metrics'],
  ['base'],
  ['clients', 'branding', 'views', 'rate-limits'],
  ['sessions', 'http', 'apis'],
  ['accounts', 'mail'],
  ['second-factors', 'passkeys', 'agents', 'avatars'],
  ['recovery', 'notifications'],
  ['registration'],
  ['domains'],
  ['oidc'],
  ['admin', 'self-service', 'interactions'],
  ['app'],
  ['process'],
  ['main', 'worker'],
];

/** The same inside of src/admin, where `routes` is the list of all routes. */
const adminFloors: readonly (readonly string[])[] = [
  ['api'],
  ['pages'],
  ['guides'],
  ['resources'],
  ['test-sign-in'],
  ['routes', 'api-parts'],
  ['console'],
  ['area'],
  ['index'],
];

/** What points upwards still, and why. This list only ever gets shorter. */
const debts: readonly (readonly [from: string, to: string, reason: string])[] = [];

/** Files at the top of src/ that stand on the floor above: refusals by their rows, and what refuses JSON. */
const besideModel = new Set(['errors', 'json']);

const ground = new Set([
  'clock',
  'ids',
  'ip-bytes',
  'client-ids',
  'log',
  'log-level',
  'log-lines',
  'log-terminal',
  'untrusted-text',
  'alphabets',
  'skeleton',
  'phrase',
  'dates',
  'deep-freeze',
]);

/** The room of a file: `oidc`, `app`, `ground`, `interactions`, `adapters`. */
function roomOf(path: string): string {
  const [top = '', second = ''] = path.split('/');
  if (top !== 'src') return top;
  const name = second.replace(/\.ts$/, '');
  if (name !== second && besideModel.has(name)) return 'model';
  return name !== second && ground.has(name) ? 'ground' : name;
}

const adminRoomOf = (path: string): string => (path.split('/')[2] ?? '').replace(/\.ts$/, '');

const floorIn = (house: typeof floors, room: string): number =>
  house.findIndex((rooms) => rooms.includes(room));

/** Beside the floors: what else may import what. */
const adaptersMayImport = new Set(['store', 'model', 'ground']);
/** The one adapter that translates the protocol core's contract knows whom it speaks for. */
const protocolAdapterMayImport = new Set([...adaptersMayImport, 'clients', 'oidc']);
/** An adapter is told its options: their types. */
const typesForAdapters = 'src/config/types.ts';
const mayImportAdapters = new Set(['main', 'worker', 'process', 'app']);

const isLower = (house: typeof floors, from: string, to: string): boolean => {
  const [fromFloor, toFloor] = [floorIn(house, from), floorIn(house, to)];
  return from === to || (toFloor >= 0 && toFloor < fromFloor);
};

function isAllowed(from: string, to: string): boolean {
  const [fromRoom, toRoom] = [roomOf(from), roomOf(to)];
  if (fromRoom === 'adapters') {
    if (toRoom === 'adapters' || to === typesForAdapters) return true;
    return (from === 'adapters/oidc.ts' ? protocolAdapterMayImport : adaptersMayImport).has(toRoom);
  }
  if (toRoom === 'adapters') return mayImportAdapters.has(fromRoom);
  if (fromRoom === 'admin' && toRoom === 'admin') {
    return isLower(adminFloors, adminRoomOf(from), adminRoomOf(to));
  }
  return isLower(floors, fromRoom, toRoom);
}

const targetsOf = ({ path, imports }: Pick<Source, 'path' | 'imports'>): string[] =>
  imports
    .filter((name) => name.startsWith('.'))
    .map((name) => join(dirname(path), name).replaceAll('\\', '/'));

test('folders: every folder of src is a room on a floor', () => {
  const rooms = new Set(product.map(({ path }) => roomOf(path)));
  assertNone([...rooms].filter((room) => room !== 'adapters' && floorIn(floors, room) < 0));
  const admin = product.map(({ path }) => path).filter((path) => path.startsWith('src/admin/'));
  assertNone(admin.filter((path) => floorIn(adminFloors, adminRoomOf(path)) < 0));
});

test('imports: point down the floors, never up or sideways, but for the listed debts', () => {
  const upwards = product.flatMap((source) =>
    targetsOf(source)
      .filter((target) => !isAllowed(source.path, target))
      .map((target) => `${source.path} imports ${target}`),
  );
  const listed = new Set(debts.map(([from, to]) => `${from} imports ${to}`));
  assertNone(upwards.filter((line) => !listed.has(line)));
  // What is paid comes off the list.
  assertNone([...listed].filter((line) => !upwards.includes(line)));
});

/** @returns each circle once, from file to file; imports of types count like all others */
function circlesOf(sources: readonly Pick<Source, 'path' | 'imports'>[]): string[] {
  const graph = new Map(sources.map((source) => [source.path, targetsOf(source)]));
  const finished = new Set<string>();
  const circles: string[] = [];
  function walk(path: string, way: readonly string[]): void {
    const start = way.indexOf(path);
    if (start >= 0) circles.push([...way.slice(start), path].join(' -> '));
    if (start >= 0 || finished.has(path)) return;
    for (const target of graph.get(path) ?? []) walk(target, [...way, path]);
    finished.add(path);
  }
  for (const path of graph.keys()) walk(path, []);
  return circles;
}

test('imports: no circle between files', () => {
  assertNone(circlesOf([...product, ...scripts, ...tests]));
});

test('adapters: import only types from configuration and log', () => {
  const violations = product
    .filter(({ path }) => path.startsWith('adapters/'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/import ([^;]*?) from '([^']+)';/g)]
        .filter(
          ([, names = '', name = '']) =>
            /\/(?:config\/types|log)\.ts$/.test(name) && !names.startsWith('type '),
        )
        .map(([statement]) => `${path}: ${statement}`),
    );
  assertNone(violations);
});

test('product: imports no test and no script', () => {
  assertNone(
    product.flatMap(({ path, imports }) =>
      imports
        .filter((name) => /\.\.\/(?:test|scripts)\//.test(name))
        .map((name) => `${path} imports ${name}`),
    ),
  );
});

// ------------------------------------------------------------------------------------------- one door per vendor

const doors: readonly [vendor: RegExp, door: RegExp][] = [
  [/^pino$/, /^src\/log\.ts$/],
  [/^ipaddr\.js$/, /^src\/ip-bytes\.ts$/],
  [/^nunjucks$/, /^src\/views\/views\.ts$/],
  [/^node-cron$/, /^src\/jobs\/scheduler\.ts$/],
  [/^argon2$/, /^src\/accounts\/passwords\/password\.ts$/],
  [/^bcryptjs$/, /^src\/accounts\/passwords\/bcrypt-worker\.ts$/],
  [/^koa-body$/, /^src\/http\/body\.ts$/],
  [/^sharp$/, /^src\/avatars\/encode-process\.ts$/],
  [/^bowser$/, /^src\/events\/device-name\.ts$/],
  [/^@koa\/cors$/, /^src\/http\/cors\.ts$/],
  [/^koa-router$/, /^src\/http\/router\.ts$/],
  [/^nodemailer(?:\/|$)/, /^src\/mail\//],
  [/^@simplewebauthn\/server(?:\/|$)/, /^src\/passkeys\//],
  [/^otplib$/, /^src\/second-factors\/totp\.ts$/],
  [/^oidc-provider$/, /^src\/oidc\/|^adapters\/oidc\.ts$/],
  [/^node:sqlite$/, /^adapters\/sqlite\//],
  [/^mongodb$/, /^adapters\/mongodb\//],
  [/^ioredis$/, /^adapters\/redis\//],
  [/^node:cluster$/, /^src\/process\/(?:workers|serve)\.ts$/],
  // Domains, store and jobs know nothing of HTTP. A debt: views/ answers a request itself.
  [/^(?:koa|koa-mount|@koa\/.*)$/, /^src\/(?:app|admin|self-service|oidc|http|views)\/|^interactions\//],
];

test('vendors: each is imported through its one door', () => {
  const violations = product.flatMap(({ path, imports }) =>
    imports.flatMap((name) =>
      doors
        .filter(([vendor, door]) => vendor.test(name) && !door.test(path))
        .map(([, door]) => `${path} imports ${name}, which is for ${door.source}`),
    ),
  );
  assertNone(violations);
});

test('vendors: one deep import of oidc-provider, whose version test/oidc-library.test.ts holds', () => {
  const violations = [...product, ...scripts, ...tests]
    .filter(({ path }) => path !== 'src/oidc/library-internals.ts')
    .flatMap(({ path, imports }) =>
      imports.filter((name) => name.startsWith('oidc-provider/')).map((name) => `${path} imports ${name}`),
    );
  assertNone(violations);
});

test('dependencies: every npm import is declared, with the right kind', () => {
  const manifest: { dependencies: object; devDependencies: object } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  const packageOf = (name: string): string => name.split('/', name.startsWith('@') ? 2 : 1).join('/');
  const isDeclared = (name: string, isProduct: boolean): boolean =>
    Object.hasOwn(manifest.dependencies, name) ||
    (!isProduct && Object.hasOwn(manifest.devDependencies, name));
  const violations = [...product, ...scripts, ...tests].flatMap((source) =>
    source.imports
      .filter((name) => !name.startsWith('.') && !name.startsWith('node:'))
      .map(packageOf)
      .filter((name) => !isDeclared(name, product.includes(source)))
      .map((name) => `${source.path} imports ${name}`),
  );
  assertNone([...new Set(violations)]);
});

// ------------------------------------------------------------------------------------------- what code may touch

const places = (sources: readonly Source[], pattern: RegExp, allowed: RegExp = /^$/): string[] =>
  sources
    .filter(({ path }) => !allowed.test(path))
    .flatMap(({ path, code }) =>
      code
        .split('\n')
        .map((line, index) => ({ line, at: `${path}:${index + 1}` }))
        .filter(({ line }) => pattern.test(line))
        .map(({ line, at }) => `${at} ${line.trim()}`),
    );

test('environment: read in config/load.ts alone', () => {
  assertNone(places(product, /\bprocess\.env\b/, /^src\/config\/load\.ts$/));
});

test('environment: nothing behaves differently for NODE_ENV', () => {
  assertNone(
    [...product, ...scripts].filter(({ text }) => /\bNODE_ENV\b/.test(text)).map(({ path }) => path),
  );
});

test('JSON: input from outside goes through src/json.ts', () => {
  // What these read was written by this product: its own files, its own answers, or sealed by its own key.
  const own = new Set([
    'src/json.ts',
    'src/process/version.ts',
    'src/log-terminal.ts',
    'src/http/one-time.ts',
    'src/views/strings.ts',
    'src/views/translate/catalogue.ts',
    'src/second-factors/totp.ts',
    'src/keys/stored-keys.ts',
    'src/admin/api/idempotency.ts',
    'src/admin/pages/calls.ts',
    'src/admin/test-sign-in/run.ts',
  ]);
  const sources = product.filter(({ path }) => !path.startsWith('adapters/'));
  assertNone(
    places(
      sources.filter(({ path }) => !own.has(path)),
      /\bJSON\.parse\b|\.json\(\)/,
    ),
  );
});

test('CORS headers: named in http/cors.ts alone', () => {
  // The security headers look whether one was set.
  const known = new Set(['src/http/cors.ts', 'src/http/security-headers.ts']);
  assertNone(
    product
      .filter(({ path, text }) => /access-control-/i.test(text) && !known.has(path))
      .map(({ path }) => path),
  );
});

test('console: used by scripts only', () => {
  assertNone(places(product, /\bconsole\./));
});

test('randomness: comes from node:crypto', () => {
  assertNone(places([...product, ...scripts], /\bMath\.random\b/));
});

test('time: comes from the clock', () => {
  assertNone(places(product, /\bDate\.now\(|\bnew Date\(\)/, /^src\/clock\.ts$/));
});

test('hashes: no MD5 or SHA-1', () => {
  const weak = /create(?:Hash|Hmac)\(\s*'(?:md5|sha1)'/i;
  assertNone(product.filter(({ text }) => weak.test(text)).map(({ path }) => path));
});

test('type checker and linter: never silenced', () => {
  // Bracketed letters: this file must not find itself.
  const away = /@ts-(?:ignore|expect-error|nocheck)|biome-ignor[e]|\bTOD[O]\b|\bFIXM[E]\b/;
  // What must not compile, said to the compiler, which refuses it once it does.
  const planted = ({ path, text }: Source): string =>
    path === 'test/model/rows.test.ts' ? text.replaceAll(/\/\/ @ts-expect-erro[r]: /g, '') : text;
  assertNone(
    [...product, ...scripts, ...tests].filter((one) => away.test(planted(one))).map(({ path }) => path),
  );
  assertNone(places([...product, ...scripts, ...tests], /:\s*an[y]\b|\bas an[y]\b|<an[y]>/));
});

// ------------------------------------------------------------------------------------------- files and folders

/** Domains of which others import the door alone. */
const withDoor = new Set([
  'jobs',
  'views',
  'events',
  'places',
  'audit',
  'metrics',
  'settings',
  'keys',
  'clients',
  'branding',
  'apis',
  'mail',
  'sessions',
  'http',
  'rate-limits',
  'accounts',
  'recovery',
  'second-factors',
  'passkeys',
  'avatars',
  'registration',
  'notifications',
  'oidc',
  'admin',
  'self-service',
  'interactions',
]);

/** Doors for some only, beside index.ts: who uses them. */
const doorsForSome: readonly (readonly [door: string, users: readonly string[]])[] = [
  ['src/http/serving.ts', ['app', 'process']],
  ['src/oidc/sign-in.ts', ['interactions']],
];

const isDoorFor = (room: string, target: string): boolean =>
  target.endsWith('/index.ts') ||
  doorsForSome.some(([door, users]) => door === target && users.includes(room));

test('folder doors: other domains import index.ts alone, or a door made for them', () => {
  assertNone(
    product.flatMap((source) =>
      targetsOf(source)
        .filter((target) => withDoor.has(roomOf(target)) && roomOf(target) !== roomOf(source.path))
        .filter((target) => !isDoorFor(roomOf(source.path), target))
        .map((target) => `${source.path} imports ${target}`),
    ),
  );
});

test('folder doors: index.ts begins by explaining its domain', () => {
  const indexes = product.filter(({ path }) => path.startsWith('src/') && path.endsWith('/index.ts'));
  assertNone(indexes.filter(({ text }) => !/^\/[/*]/.test(text)).map(({ path }) => path));
});

/** What is longer than 80 lines of its own, or a method or closure of over 40, and why. This list only gets shorter. */
const longReasons: Readonly<Record<string, string>> = {
  'src/app/create-app.ts createApp': 'constructors, one after the other',
  'src/oidc/tokens/password-grant.ts handler':
    'one token request from its parameters to its answer, as RFC 6749 §4.3 orders it',
  'src/oidc/entitlements/load-grant.ts createLoadExistingGrant':
    'one hook of the library: what a request gets, scope by scope',
  'src/clients/clients.ts written': 'the rules of a record in the order in which each needs the one before',
  'src/clients/clients.ts create': 'the record that every application begins with, member by member',
  'interactions/login.ts send': 'the values of one page',
  'interactions/login.ts submit': 'one form, and where each of its answers leads',
  'src/self-service/overview.ts all': 'the values of one page',
  'src/self-service/recent-additions.ts list': 'what can have been added, kind by kind',
  'src/passkeys/assertion.ts finish': 'the checks of WebAuthn §7.2 in their order, each with its refusal',
};

const MAX_OWN_LINES = 80;
const MAX_INNER_LINES = 40;

test('functions: none has over 80 own lines, no method or closure over 40 without a reason', () => {
  const long = longFunctions(root, ['src', 'adapters', 'interactions'], MAX_INNER_LINES).filter(
    ({ lines, isInner }) => isInner || lines > MAX_OWN_LINES,
  );
  assertNone(
    long.filter(({ at }) => !Object.hasOwn(longReasons, at)).map(({ at, lines }) => `${at}: ${lines} lines`),
  );
  const found = new Set(long.map(({ at }) => at));
  assertNone(
    Object.keys(longReasons)
      .filter((at) => !found.has(at))
      .map((at) => `${at} is short now: take it off the list`),
  );
});

test('composition: src/app calls constructors in under 600 lines and decides nothing', () => {
  const composition = product.filter(({ path }) => path.startsWith('src/app/'));
  const lines = composition.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0);
  assert.ok(lines < 600, `${lines} lines`);
  // Decisions, refusals, events of its own, and variables that something earlier would have to wait for.
  const rules = /\bif \(|\bAppError\b|\.(?:record|note|write|emit)\(|\bevent: '|^\s*let /;
  assertNone(places(composition, rules));
});

test('folders: none is a catch-all', () => {
  const drawers = /\/(?:utils?|helpers?|common|misc|managers?|services?|lib)(?:\/|\.ts$)/;
  assertNone([...product, ...scripts].map(({ path }) => path).filter((path) => drawers.test(path)));
});

test('exports: named', () => {
  assertNone(places([...product, ...scripts], /^\s*export\s+default\b|^\s*export\s*\*/));
});

// ------------------------------------------------------------------------------------------- names of tests

const namings =
  /(?<![.\w])(?:test|suite|describe|testOnRealMongo|with(?:Each)?(?:Store|Server))\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g;

/** Names as they stand, the values of templates left out; the ones run on each store get its name in front. */
const testNamesIn = (text: string): string[] =>
  [...text.matchAll(namings)].map(
    ([call, , name = '']) =>
      (call.startsWith('withEach') ? 'sqlite: ' : '') + name.replace(/\$\{[^}]*\}/g, ''),
  );

/** Words that docs/glossary.md replaces. */
const privateWords = /\b(?:somebody|nobody|whoever|anybody|mended|in vain)\b/i;

test('test files: no header begins with "Owns" or cites an issue of elsewhere', () => {
  assertNone(
    tests
      .filter(({ text }) => /^(?:#!.*\n)?(?:\/\/|\/\*\*) Owns\b/.test(text) || /\(issue [A-F]\b/.test(text))
      .map(({ path }) => path),
  );
});

test('test names: under 90 characters, in the words of docs/glossary.md', () => {
  const names = tests.flatMap(({ path, text }) => testNamesIn(text).map((name) => ({ path, name })));
  assert.ok(names.length > 1900, `only ${names.length} found`);
  assertNone(
    names
      .filter(({ name }) => name.length >= 90 || privateWords.test(name))
      .map(({ path, name }) => `${path}: ${name.length} characters: ${name}`),
  );
});

/** The runner ends a file, its after() hooks first, when the tests that it knows are over: before a later `await` has ended. */
function awaitsAfterTests(text: string): string[] {
  const lines = text.split('\n');
  const first = lines.findIndex((line) =>
    /^(?:for .*|\s+)?(?:test|suite|describe|with[A-Z]\w*)\(/.test(line),
  );
  return first < 0
    ? []
    : lines.slice(first).filter((line) => /^(?:await|(?:const|let)\b.*= await)\b/.test(line));
}

test('test files: no top-level await after the first test', () => {
  assert.deepEqual(
    awaitsAfterTests("const a = await b();\ntest('x', f);\nconst c = await d();\nawait e();"),
    ['const c = await d();', 'await e();'],
  );
  assertNone(
    tests
      .filter(({ path }) => path.endsWith('.test.ts'))
      .flatMap(({ path, text }) => awaitsAfterTests(text).map((line) => `${path}: ${line}`)),
  );
});

test('test sign-ins: at most three files of src/oidc name them', () => {
  const naming = product
    .filter(({ path, text }) => path.startsWith('src/oidc/') && /test.?sign.?in|try it|\btrial/i.test(text))
    .map(({ path }) => path);
  assert.ok(naming.includes('src/oidc/test-sign-in.ts') && naming.length <= 3, naming.join('\n'));
});

test('top level: holds the given files and folders only', () => {
  const folders = ['src', 'adapters', 'interactions', 'templates', 'scripts', 'test', 'docs'];
  const files = [
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'biome.json',
    'Procfile',
    'README.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'LICENSE',
    'app.json',
    'compose.yaml',
    'Dockerfile',
  ];
  // What is not in the repository (.gitignore).
  const local = ['node_modules', 'data', 'test-results', 'bundle'];
  const expected = new Set([...folders, ...files, ...local]);
  const entries = readdirSync(root).filter((name) => !name.startsWith('.') && !name.endsWith('.log'));
  assertNone(entries.filter((name) => !expected.has(name)));
  for (const name of folders) assert.ok(entries.includes(name), `${name}/ is missing`);
});

test('boundaries: the checks detect planted violations', () => {
  const sample = [
    "import a, { type b } from './x.ts';",
    "import type { c } from '../y.ts';",
    "import 'side-effect';",
    "export { d } from './z.ts';",
    "import {\n  e,\n} from 'koa';",
    "const f = await import('koa-body');",
  ].join('\n');
  assert.deepEqual(importsOf(sample), ['./x.ts', '../y.ts', 'side-effect', './z.ts', 'koa', 'koa-body']);
  const circle = [
    { path: 'src/a.ts', imports: ['./b/b.ts', 'koa'] },
    { path: 'src/b/b.ts', imports: ['./c.ts'] },
    { path: 'src/b/c.ts', imports: ['../a.ts'] },
    { path: 'src/d.ts', imports: ['./a.ts'] },
  ];
  assert.deepEqual(circlesOf(circle), ['src/a.ts -> src/b/b.ts -> src/b/c.ts -> src/a.ts']);
  assert.deepEqual(circlesOf(circle.slice(1)), []);
  assert.equal(isAllowed('src/accounts/a.ts', 'src/mail/b.ts'), false);
  assert.equal(isAllowed('src/accounts/a.ts', 'src/accounts/passwords/b.ts'), true);
  assert.equal(isAllowed('src/accounts/a.ts', 'src/passkeys/b.ts'), false);
  assert.equal(isAllowed('src/passkeys/a.ts', 'src/accounts/b.ts'), true);
  assert.equal(isAllowed('src/store/a.ts', 'src/accounts/b.ts'), false);
  assert.equal(isAllowed('src/log.ts', 'src/config/types.ts'), false);
  assert.equal(isAllowed('interactions/a.ts', 'src/admin/b.ts'), false);
  assert.equal(isAllowed('interactions/a.ts', 'src/http/b.ts'), true);
  assert.equal(isAllowed('src/unknown/a.ts', 'src/errors.ts'), false);
  assert.equal(isAllowed('src/oidc/a.ts', 'adapters/sqlite/store.ts'), false);
  assert.equal(isAllowed('src/app/http.ts', 'src/app/create-app.ts'), true);
  assert.equal(isAllowed('src/app/a.ts', 'src/process/b.ts'), false);
  assert.equal(isAllowed('src/admin/api/a.ts', 'src/admin/resources/users/b.ts'), false);
  assert.equal(isAllowed('src/admin/console/a.ts', 'src/admin/routes.ts'), true);
  assert.equal(isAllowed('adapters/sqlite/store.ts', 'src/clients/b.ts'), false);
  assert.deepEqual(
    testNamesIn(`test(\`\${a} is 'b'\`, () => {}); /x/.test('y'); withEachStore(\n  'c', d)`),
    [" is 'b'", 'sqlite: c'],
  );
  assert.equal(codeOf("x('process.env'); // console.log\n/* Math.random */ y").includes('console'), false);
  assert.match(codeOf("const a = 'http://b'; console.log(a)"), /console/);
});
