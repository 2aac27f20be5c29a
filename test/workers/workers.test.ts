// The process lifecycle, alone and with workers: signals, grace period, crashes, restarts.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { send } from '../http/serve.ts';

interface Program {
  readonly child: ChildProcess;
  /** Everything it logged so far. */
  log(): string;
  /** Resolves once `text` was logged `times` times. */
  until(text: string, times?: number): Promise<void>;
  port(): Promise<number>;
  readonly exit: Promise<{ code: number | null }>;
}

/** The whole group: a test that failed must not leave workers behind. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // No one of it is left.
  }
}

function run(t: TestContext, ...args: string[]): Program {
  const file = new URL('program.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [file, ...args], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => killGroup(child));
  let text = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8');
  });
  const until = async (wanted: string, times = 1): Promise<void> => {
    const deadline = performance.now() + 180_000;
    while (text.split(wanted).length <= times) {
      assert.ok(performance.now() < deadline, `no ${times} × ${wanted} in:\n${text}`);
      await sleep(10);
    }
  };
  return {
    child,
    until,
    log: () => text,
    port: async () => {
      await until('"listening"');
      return Number(/"port":(\d+)/.exec(text)?.[1]);
    },
    exit: once(child, 'exit').then(([code]) => ({
      code: code as number | null,
    })),
  };
}

const pidFrom = async (port: number, path = '/'): Promise<number> => Number((await send(port, path)).body);

// Mostly waiting, so several at a time.
const concurrency = 4;

describe('one process', { concurrency }, () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`${signal}: running requests are answered, then it exits with 0`, async (t) => {
      const program = run(t, 'serve');
      const port = await program.port();
      const slow = pidFrom(port, '/slow/300');
      await program.until('"msg":"asked"');
      program.child.kill(signal);
      assert.equal(await slow, program.child.pid);
      assert.equal((await program.exit).code, 0);
      assert.match(program.log(), new RegExp(`"reason":"${signal}"`));
      await assert.rejects(pidFrom(port), /ECONNREFUSED/);
    });
  }

  test('the same signal repeated at once, as by npm, cuts nothing off', async (t) => {
    const program = run(t, 'serve');
    const slow = pidFrom(await program.port(), '/slow/400');
    await program.until('"msg":"asked"');
    for (const signal of ['SIGTERM', 'SIGTERM', 'SIGINT'] as const) program.child.kill(signal);
    assert.equal(await slow, program.child.pid);
    assert.equal((await program.exit).code, 0);
  });

  test('a later second signal ends it at once', async (t) => {
    const program = run(t, 'hang', '1', '0', '600000');
    await program.port();
    program.child.kill('SIGTERM');
    await program.until('"reason":"SIGTERM"');
    await sleep(1_200);
    program.child.kill('SIGTERM');
    assert.equal((await program.exit).code, 1);
  });

  test('a hanging stop ends with 1 after the grace period', async (t) => {
    const program = run(t, 'hang', '1', '0', '300');
    await program.port();
    program.child.kill('SIGTERM');
    assert.equal((await program.exit).code, 1);
    assert.match(program.log(), /stopping took too long/);
  });

  test('a failing stop ends with 1 and says why', async (t) => {
    const program = run(t, 'stop-fails');
    await program.port();
    program.child.kill('SIGTERM');
    assert.equal((await program.exit).code, 1);
    assert.match(program.log(), /cannot stop/);
  });

  test('a failing start ends with 1 and says why', async (t) => {
    const program = run(t, 'fail');
    assert.equal((await program.exit).code, 1);
    assert.match(program.log(), /"level":"fatal".*cannot start/);
  });

  test('unhandled rejection: logged, and the process continues', async (t) => {
    const program = run(t, 'serve');
    const port = await program.port();
    await pidFrom(port, '/reject');
    await program.until('nobody awaited this');
    assert.equal(await pidFrom(port), program.child.pid);
    program.child.kill('SIGTERM');
    assert.equal((await program.exit).code, 0);
  });

  test('uncaught exception: logged, running requests are answered, exit with 1', async (t) => {
    const program = run(t, 'serve');
    const port = await program.port();
    const slow = pidFrom(port, '/slow/300');
    await program.until('"msg":"asked"');
    await pidFrom(port, '/throw');
    assert.equal(await slow, program.child.pid);
    assert.equal((await program.exit).code, 1);
    assert.match(program.log(), /"level":"fatal".*nobody caught this/);
  });
});

describe('several processes', { concurrency }, () => {
  const portOf = async (program: Program, count: number): Promise<number> => {
    await program.until('"listening"', count);
    return program.port();
  };

  test('share the port and exit together with 0', async (t) => {
    const program = run(t, 'serve', '2');
    const port = await portOf(program, 2);
    const pids = new Set<number>();
    for (let index = 0; index < 8; index += 1) pids.add(await pidFrom(port));
    assert.equal(pids.size, 2);
    assert.ok(!pids.has(program.child.pid ?? 0));
    const slow = Promise.all([pidFrom(port, '/slow/300'), pidFrom(port, '/slow/300')]);
    await program.until('"msg":"asked"', 2);
    program.child.kill('SIGTERM');
    for (const pid of await slow) assert.ok(pids.has(pid));
    assert.equal((await program.exit).code, 0);
    assert.equal(program.log().split('"stop called"').length, 3);
  });

  test('^C in a terminal, which reaches all processes, is one stop', async (t) => {
    const program = run(t, 'serve', '2');
    const port = await portOf(program, 2);
    const slow = pidFrom(port, '/slow/300');
    await program.until('"msg":"asked"');
    process.kill(-(program.child.pid ?? 0), 'SIGINT');
    assert.ok((await slow) > 0);
    assert.equal((await program.exit).code, 0);
  });

  test('a killed worker is replaced while the other serves', async (t) => {
    const program = run(t, 'serve', '2');
    const port = await portOf(program, 2);
    await assert.doesNotReject(pidFrom(port, '/kill'));
    await program.until('worker lost');
    assert.ok((await pidFrom(port)) > 0);
    await program.until('"listening"', 3);
    program.child.kill('SIGTERM');
    assert.equal((await program.exit).code, 0);
  });

  test('when no worker can start it gives up and ends with 1', async (t) => {
    const program = run(t, 'fail', '2');
    assert.equal((await program.exit).code, 1);
    assert.match(program.log(), /a worker could not start/);
  });

  test('workers exit when the primary is killed', async (t) => {
    const program = run(t, 'serve', '2');
    const port = await portOf(program, 2);
    const pid = await pidFrom(port);
    program.child.kill('SIGKILL');
    const deadline = performance.now() + 180_000;
    const isAlive = (): boolean => {
      try {
        return process.kill(pid, 0);
      } catch {
        return false;
      }
    };
    while (isAlive()) {
      assert.ok(performance.now() < deadline);
      await sleep(20);
    }
  });
});
