// Runs the HTTP flow tests, and further files if given, on another backend: a test run of its own, with the servers named in its
// environment.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const project = fileURLToPath(new URL('../..', import.meta.url));

/** They have a store in memory of their own, whatever the environment names. */
const OWN_STORE =
  /^(?:plain-(?:answers|grants|machines|races|userinfo)|interrupted-sign-out|logout-deliveries|mail-queue-outage|store-calls)\.test\.ts$/;

// What is told of each test that failed.
const KEPT = 4_000;

/** @param output TAP; of each test that failed its line and what belongs to it, of a run that ended early its last words */
function failuresOf(output: string): string {
  const failed = output.split(/^(?=\s*(?:not )?ok \d)/m).filter((block) => /^\s*not ok /.test(block));
  return (failed.length ? failed : [output.slice(-KEPT)]).map((block) => block.slice(0, KEPT)).join('\n');
}

/**
 * @param env TEST_STORE and the servers
 * @param isWanted by the name of the file in test/flows; default: all
 * @param further files beside them
 */
export async function runFlows(
  env: Readonly<Record<string, string>>,
  isWanted: (name: string) => boolean = () => true,
  further: readonly string[] = [],
): Promise<void> {
  const flows = readdirSync(`${project}/test/flows`)
    .filter((name) => name.endsWith('.test.ts') && !OWN_STORE.test(name) && isWanted(name))
    .map((name) => `test/flows/${name}`);
  const files = [...flows, ...further];
  // The parent's own marks of a test run would make the child report to it instead of running alone.
  const { NODE_TEST_CONTEXT, NODE_OPTIONS, ...inherited } = process.env;
  const isReal = process.env.MONGODB_TEST_URI ? '1' : '';
  const programs = mkdtempSync(join(tmpdir(), 'latchkey-flows-'));
  execFileSync(process.execPath, ['scripts/test-files.ts', programs, ...files], { cwd: project });
  const child = spawn(
    process.execPath,
    [
      '--min-semi-space-size=16',
      '--preserve-symlinks',
      '--test',
      '--test-concurrency=2',
      '--test-timeout=600000',
      '--test-reporter=tap',
      ...readdirSync(programs).map((name) => join(programs, name)),
    ],
    {
      cwd: project,
      env: { ...inherited, ...env, TEST_MONGODB_IS_REAL: isReal },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const [code] = await once(child, 'close');
  rmSync(programs, { recursive: true });
  const passed = Number(/^# pass (\d+)$/m.exec(output)?.[1] ?? 0);
  const skipped = Number(/^# skipped (\d+)$/m.exec(output)?.[1] ?? 0);
  assert.equal(code, 0, failuresOf(output));
  assert.equal(skipped, 0);
  assert.ok(passed >= files.length * 2, `only ${passed} tests passed in ${files.length} files`);
}
