// The bundle (decision 24): when it is used and when not, how processes are started from it, and that they do what the sources
// do. In a copy of the project, so that it can be damaged.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import {
  appendFile,
  cp,
  mkdir,
  mkdtemp,
  rename,
  rm,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { runFlows } from '../flows-on/run-flows.ts';
import { freePort } from '../support/free-port.ts';
import { isUp, residentMib } from './server-process.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COPIED = ['src', 'adapters', 'interactions', 'templates', 'scripts', 'package.json'];
const COPIED_TOO = ['package-lock.json', 'tsconfig.json'];
const run = promisify(execFile);

let project: string;
before(async () => {
  project = await mkdtemp(join(tmpdir(), 'latchkey-bundle-'));
  for (const name of [...COPIED, ...COPIED_TOO]) {
    await cp(join(ROOT, name), join(project, name), { recursive: true });
  }
  // A folder of its own, so that a package can be missing.
  await mkdir(join(project, 'node_modules'));
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    // Without the mark of what was installed: a changed lock file here would have `npm start` install anew.
    if (name !== '.cache' && name !== '.latchkey-lock')
      await symlink(join(ROOT, 'node_modules', name), join(project, 'node_modules', name));
  }
});
after(() => rm(project, { recursive: true }));

/** @returns what would be started, and what was said */
async function bundled(entry = 'src/main.ts'): Promise<{ file: string; said: string }> {
  const { stdout, stderr } = await run('sh', ['scripts/bundled.sh', entry, process.execPath], {
    cwd: project,
  });
  return { file: stdout.trim(), said: stderr };
}

async function withoutEsbuild<T>(act: () => Promise<T>): Promise<T> {
  const [at, away] = ['esbuild', 'esbuild.away'].map((name) => join(project, 'node_modules', name));
  await rename(at ?? '', away ?? '');
  try {
    return await act();
  } finally {
    await rename(away ?? '', at ?? '');
  }
}

const largest = (folder: string): string =>
  readdirSync(join(project, folder))
    .filter((name) => name.endsWith('.js'))
    .map((name) => join(project, folder, name))
    .sort((one, other) => readFileSync(other).length - readFileSync(one).length)[0] ?? assert.fail('none');

suite('bundle: when it is used', () => {
  test('bundle: built once, and used as long as no source differs', async () => {
    const first = await bundled();
    assert.match(first.file, /^bundle\/[\d-]+\/main\.js$/);
    assert.equal(first.said, '');
    const file = join(project, first.file);
    // A file of before: it would be another if it were built again.
    await utimes(file, 1000, 1000);
    assert.deepEqual(await bundled(), first);
    assert.equal((await run('stat', ['-c', '%Y', file])).stdout.trim(), '1000');
    assert.equal((await bundled('src/worker.ts')).file, first.file.replace('main.js', 'worker.js'));
  });

  test('bundle: a changed source is not ignored, however old its file says it is', async () => {
    const { file: old } = await bundled();
    const source = join(project, 'src/http/health.ts');
    await appendFile(source, '\n// Changed.\n');
    await utimes(source, 1000, 1000);
    assert.deepEqual(await withoutEsbuild(bundled), { file: 'src/main.ts', said: '' });
    const { file } = await bundled();
    assert.notEqual(file, old);
    // Running processes still load parts of theirs.
    assert.ok(existsSync(join(project, old)));
  });

  test('bundle: a new lock file makes a new one', async () => {
    const { file: old } = await bundled();
    await appendFile(join(project, 'package-lock.json'), '\n');
    assert.notEqual((await bundled()).file, old);
  });

  test('bundle: a damaged one is not used, and built anew where it can be', async () => {
    const { file } = await bundled();
    const part = largest(join(file, '..'));
    const whole = readFileSync(part);
    await truncate(part, whole.length - 100);
    assert.deepEqual(await withoutEsbuild(bundled), { file: 'src/main.ts', said: '' });
    assert.equal((await bundled()).file, file);
    assert.deepEqual(readFileSync(part), whole);
    await rm(part);
    assert.deepEqual(await withoutEsbuild(bundled), { file: 'src/main.ts', said: '' });
  });

  test('bundle: sources that cannot be bundled run as they are, in one line', async () => {
    const source = join(project, 'src/ids.ts');
    const text = readFileSync(source);
    await appendFile(source, "\nimport './missing.ts';\n");
    const { file, said } = await bundled();
    assert.equal(file, 'src/main.ts');
    assert.match(said, /latchkey: the bundle could not be built/);
    assert.deepEqual(
      readdirSync(join(project, 'bundle')).filter((name) => name.startsWith('new')),
      [],
    );
    await cp(join(ROOT, 'src/ids.ts'), source);
    assert.deepEqual(readFileSync(source), text);
  });

  test('bundle: not made where a name would be missing when it is needed', async () => {
    const source = join(project, 'src/second-factors/qr.ts');
    const text = readFileSync(source, 'utf8');
    const named = text
      .replace('const { default: qrcode } =', 'const { toDataURL } =')
      .replace('qrcode.toDataURL(', 'toDataURL(');
    assert.notEqual(named, text);
    await writeFile(source, named);
    const { file, said } = await bundled();
    assert.equal(file, 'src/main.ts');
    assert.match(said, /has no toDataURL/);
    await writeFile(source, text);
    assert.match((await bundled()).file, /^bundle\//);
  });

  test('bundle: several processes that start at once agree on one', async () => {
    await rm(join(project, 'bundle'), { recursive: true });
    const all = await Promise.all(Array.from({ length: 3 }, () => bundled()));
    assert.equal(new Set(all.map(({ file }) => file)).size, 1);
    assert.match(all[0]?.file ?? '', /^bundle\//);
    assert.equal(readdirSync(join(project, 'bundle')).length, 1);
  });
});

interface Started {
  readonly pid: number;
  readonly port: number;
  readonly elapsedMs: number;
  stop(): Promise<void>;
}

async function started(port: number, [program = '', ...args]: string[], env: object = {}): Promise<Started> {
  const at = performance.now();
  const child = spawn(program, args, {
    cwd: project,
    env: {
      PATH: process.env.PATH,
      HOME: project,
      PORT: String(port),
      HOST: '127.0.0.1',
      BASE_URL: `http://127.0.0.1:${port}`,
      DATA_DIR: join(project, 'data'),
      ...env,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const over = once(child, 'close');
  while (!(await isUp(port))) {
    assert.equal(child.exitCode, null, 'it left');
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
  return {
    pid: child.pid ?? assert.fail(),
    port,
    elapsedMs: performance.now() - at,
    async stop() {
      child.kill('SIGTERM');
      await over;
    },
  };
}

const npmStart = ['sh', 'scripts/with-node.sh', 'src/main.ts'];
const procOf = (pid: number, name: string): string[] =>
  readFileSync(`/proc/${pid}/${name}`, 'utf8').split('\0');
const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);

suite('bundle: how processes start', () => {
  test('start: from the bundle, with the memory that suits a server, workers too', async () => {
    const running = await started(await freePort(), npmStart, { WEB_CONCURRENCY: '2' });
    try {
      const pids = [running.pid, ...childrenOf(running.pid)];
      assert.equal(pids.length, 3);
      for (const pid of pids) {
        const command = procOf(pid, 'cmdline');
        assert.ok(command.includes('--max-semi-space-size=4'), command.join(' '));
        assert.ok(
          command.some((word) => /\bbundle\/[\d-]+\/main\.js$/.test(word)),
          command.join(' '),
        );
        const environment = procOf(pid, 'environ');
        assert.ok(environment.includes('MALLOC_ARENA_MAX=1'));
        assert.ok(environment.includes('GLIBC_TUNABLES=glibc.malloc.hugetlb=1'));
      }
    } finally {
      await running.stop();
    }
  });

  test('start: without esbuild and a bundle from the sources, without a word', async () => {
    await rename(join(project, 'bundle'), join(project, 'bundle.away'));
    try {
      const running = await withoutEsbuild(async () => started(await freePort(), npmStart));
      const command = procOf(running.pid, 'cmdline');
      await running.stop();
      assert.ok(command.includes('src/main.ts'), command.join(' '));
    } finally {
      await rename(join(project, 'bundle.away'), join(project, 'bundle'));
    }
  });

  test('start: within a budget of what bare node:http takes, in time and memory', async (t) => {
    const port = await freePort();
    const program = `require('node:http').createServer((q, s) => s.end()).listen(${port}, '127.0.0.1')`;
    const best = { ours: Number.POSITIVE_INFINITY, bare: Number.POSITIVE_INFINITY };
    const memory = { ours: 0, bare: 0 };
    // The best of each, so more rounds only take away what other work on the machine adds.
    for (let round = 0; round < 3 || (round < 20 && best.ours >= best.bare * 14); round += 1) {
      for (const [name, command] of [
        ['ours', npmStart],
        ['bare', [process.execPath, '-e', program]],
      ] as const) {
        const running = await started(port, [...command]);
        best[name] = Math.min(best[name], running.elapsedMs);
        memory[name] = await residentMib(running.pid);
        await running.stop();
      }
    }
    const ratio = best.ours / best.bare;
    t.diagnostic(
      `best ${best.ours.toFixed(0)} ms, bare ${best.bare.toFixed(0)} ms, ${ratio.toFixed(1)}x; ` +
        `resident ${memory.ours.toFixed(0)} MiB, bare ${memory.bare.toFixed(0)}`,
    );
    // From the sources it was 18x, and 120 MiB more than bare.
    assert.ok(ratio < 14, `${ratio}`);
    assert.ok(memory.ours < memory.bare + 70, `${memory.ours} MiB`);
  });
});

test('bundle: the first run in a browser passes on it', {
  timeout: 900_000,
}, async () => {
  const { stdout } = await run('sh', ['scripts/bundled.sh', 'src/main.ts', process.execPath], { cwd: ROOT });
  const entry = stdout.trim();
  assert.match(entry, /^bundle\//);
  const files = [
    'browser/first-run',
    // That workers of a cluster run from it is shown above. What loads packages at first use, and every page of the Admin UI.
    ...(process.env.LONG === '1'
      ? ['processes/two-processes', 'processes/cluster', 'browser/second-factor', 'browser/admin-looks']
      : []),
  ];
  await runFlows(
    { PRODUCT_ENTRY: entry },
    () => false,
    files.map((name) => `test/${name}.test.ts`),
  );
});
