// Every command of package.json answers what a person can get wrong: an unknown option, a missing argument, an impossible path. One
// or two sentences, the exit code 2, no stack, and nothing is begun. And `--help` says how it is used.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { run } from './run.ts';

/** Long enough for a busy machine, and not for what never ends. */
const PATIENCE_MS = 30_000;
const AT_ONCE = 4;
/** All of them; each run has one of each kind. */
const isLong = process.env.LONG === '1';
/** These load little. */
const QUICK = new Set(['backup', 'restore', 'copy-store', 'convert-realm', 'rotate-keys']);

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-commands-'));
  await createSqliteStore({ file: join(folder, 'latchkey.db'), clock: Date.now }).close();
  await writeFile(join(folder, 'text'), 'no JSON');
  await writeFile(join(folder, 'realm.json'), '{"groups":[{"name":"staff"}]}');
});
after(() => rm(folder, { recursive: true }));

/** The programs behind `npm run …` that are ours, by their commands. */
async function commands(): Promise<Map<string, string>> {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(await readFile('package.json', 'utf8'));
  const programs = Object.entries(scripts).map(
    ([name, line]) => [name, /with-node\.sh (\S+\.ts)/.exec(line)?.[1] ?? ''] as const,
  );
  return new Map(programs.filter(([, file]) => file !== ''));
}

async function inTurns<T>(all: readonly T[], act: (one: T) => Promise<void>): Promise<void> {
  const left = [...all];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let one = left.shift(); one !== undefined; one = left.shift()) await act(one);
    }),
  );
}

const env = () => ({ DATA_DIR: folder });

test('commands: each of package.json answers --help, an unknown option and a stray word', async () => {
  const programs = await commands();
  assert.ok(programs.size >= 14, [...programs.keys()].join());
  await inTurns([...programs], async ([name, file]) => {
    for (const args of isLong ? [['--sideways'], ['a', 'b', 'c']] : [['--sideways']]) {
      const { code, stdout, stderr } = await run(file, args, { env: env(), timeoutMs: PATIENCE_MS });
      assert.deepEqual([code, stdout], [2, ''], `${name} ${args}`);
      assert.match(stderr, /^(?:Unknown option|Unexpected argument) '.*\n.*Try --help/, name);
      assert.ok(stderr.length < 300, stderr);
    }
    if (!isLong && name !== 'release') return;
    const help = await run(file, ['--help'], { env: env(), timeoutMs: PATIENCE_MS });
    assert.deepEqual([help.code, help.stderr], [0, ''], name);
    assert.match(help.stdout, /^Usage: npm (?:run )?[a-z:-]+/m, name);
    assert.match(help.stdout, /Exit codes: 0/, name);
  });
});

interface Mistake {
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly says: RegExp;
  readonly code?: number;
}

test('commands: missing arguments and impossible paths, in words', async () => {
  const token = { ADMIN_TOKEN: 'a-token-of-nobody-0123456789-0123456789' };
  const nowhere = join(folder, 'no', 'such', 'x');
  const belowFile = join(folder, 'text', 'x');
  const mistakes: readonly Mistake[] = [
    { file: 'backup', args: [], says: /^FILE is missing: npm run backup -- FILE$/m },
    { file: 'restore', args: [], says: /^FILE is missing: npm run restore -- FILE$/m },
    { file: 'restore', args: [nowhere], says: /^\S+x does not exist\. Check the path/ },
    { file: 'backup', args: [nowhere], says: /^There is no folder \S+such\. Create it/ },
    { file: 'backup', args: [belowFile], says: /is a file, not a folder/ },
    { file: 'backup', args: ['/proc/x'], says: /^Nothing can be created at \/proc\/x/ },
    {
      file: 'backup',
      args: ['x'],
      env: { DATA_DIR: nowhere },
      says: /^There is no database at .*Set DATA_DIR/,
      code: 1,
    },
    { file: 'copy-store', args: [], says: /^MONGODB_URI is not set\. It names the MongoDB/ },
    {
      file: 'copy-store',
      args: [],
      env: { DATA_DIR: nowhere },
      says: /^There is no database at .*Set DATA_DIR/,
      code: 1,
    },
    { file: 'convert-realm', args: [], says: /^REALM\.json and FOLDER are missing: npm run/ },
    { file: 'convert-realm', args: ['x'], says: /^FOLDER is missing: npm run convert-realm/ },
    { file: 'convert-realm', args: [nowhere, folder], says: /^\S+x does not exist\. Check the path/ },
    { file: 'convert-realm', args: [folder, folder], says: /is a folder, and a file is needed/ },
    {
      file: 'convert-realm',
      args: [join(folder, 'realm.json'), '/proc/x'],
      says: /^Nothing can be created at \/proc\/x/,
    },
    {
      file: 'rotate-keys',
      args: ['--list'],
      env: { DATA_DIR: nowhere },
      says: /^There is no database at .*Set DATA_DIR/,
      code: 1,
    },
    { file: 'release', args: [], env: { DATA_DIR: belowFile }, says: /DATA_DIR: .*file/, code: 1 },
    { file: 'audit', args: ['--lock', nowhere], says: /^\S+x does not exist/ },
    { file: 'audit', args: ['--lock', join(folder, 'text')], says: /is no lock file of npm\. Name another/ },
    { file: 'bench', args: ['--json', nowhere], says: /^There is no folder/ },
    { file: 'bench', args: ['--compare', nowhere], says: /does not exist/ },
    { file: 'bench', args: ['--compare', join(folder, 'text')], says: /is not JSON/ },
    { file: 'bench', args: ['--only', 'nonsense'], says: /no goal or operation contains "nonsense"/ },
    { file: 'pictures', args: ['--chromium', nowhere], says: /^There is no program \S+\. Install Chromium/ },
    { file: 'pictures', args: ['--out', '/proc/x'], says: /^Nothing can be created at/ },
    { file: 'pictures', args: ['--out', belowFile], says: /is a file, and a folder is needed/ },
    { file: 'conformance', args: [], says: /^ADMIN_TOKEN is not set/ },
    { file: 'conformance', args: ['--suite', 'x'], env: token, says: /^--suite must be a URL/ },
    { file: 'conformance', args: ['--out', '/proc/x'], env: token, says: /^Nothing can be created at/ },
    { file: 'dev', args: ['--data-dir', '/proc/x'], says: /^Nothing can be created at/ },
    { file: 'dev', args: ['--data-dir', folder], says: /contains other data/ },
    { file: 'sample', args: ['--port'], says: /argument missing/ },
    {
      file: 'sample-mcp',
      args: ['--port', '0', '--issuer', 'http://localhost:1/oauth2', '--admin-token', 'x'],
      says: /^Nothing answers at http:\/\/localhost:1\. Start Latchkey there, or name it with --issuer/,
      code: 1,
    },
  ];
  const asked = isLong ? mistakes : mistakes.filter((one) => QUICK.has(one.file));
  await inTurns(asked, async ({ file, args, env: more, says, code: wanted = 2 }) => {
    const { code, stdout, stderr } = await run(`scripts/${file}.ts`, args, {
      env: { ...env(), ...more },
      timeoutMs: PATIENCE_MS,
    });
    const what = `${file} ${args.join(' ')}: ${stdout}${stderr}`;
    assert.deepEqual([code, stdout], [wanted, ''], what);
    assert.match(stderr, says, what);
    assert.doesNotMatch(stderr, /\n\s+at |\.ts:\d+/, what);
  });
  assert.equal(existsSync(join(folder, 'no')), false, 'a mistyped path is not created');
});
