// Limits for lists, pages and clean-up with a million documents on the embedded store; LONG=1 only, since filling it takes
// minutes. The figures are printed; the limit is on processor time, which other work does not change.
// A process of its own: its memory is measured.
import { ok } from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { after, before, describe, type TestContext, test } from 'node:test';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { allCollections } from '../../src/store/all-collections.ts';
import { accounts, audit, sessions } from '../../src/store/collections.ts';
import type { Store } from '../../src/store/port.ts';
import { refreshTokens } from '../../src/store/protocol-collections.ts';
import { Agent } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { fill, history, pastRefreshTokens, pastSessions, people } from '../support/crowd.ts';
import {
  deepPages,
  enterConsole,
  type Figure,
  lineOf,
  logLists,
  timed,
  timedList,
  timedPage,
  userLists,
} from './million-measures.ts';

const MILLION = 1_000_000;
const FIRST_PAGE_MS = 50;
const DAY = 86_400_000;
const isLong = process.env.LONG === '1';

interface World {
  readonly app: TestApp;
  readonly store: Store;
}

/** @param populate puts into the file what has to be there */
function withFile(populate: (file: string) => Promise<void>): () => World {
  let folder = '';
  let world: World | undefined;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-million-'));
    const file = join(folder, 'latchkey.db');
    await populate(file);
    let app: TestApp | undefined;
    const clock = (): number => app?.now() ?? Date.now();
    const store = createSqliteStore({ file, clock, definitions: allCollections });
    app = await startApp({ shared: store });
    world = { app, store };
  });
  after(async () => {
    await world?.app.stop();
    await world?.store.close();
    await rm(folder, { recursive: true });
  });
  return () => {
    if (world === undefined) throw new Error('nothing was started');
    return world;
  };
}

/** Told, not judged: where those that match begin far behind the newest (who has not signed in for long), it is a long look. */
const isFirstPage = ({ what }: Figure): boolean =>
  !/cursor|offset|search|&|last_login_at_to/.test(what) || /sort=/.test(what);

if (isLong) {
  describe('a million users', () => {
    const world = withFile((file) =>
      fill(file, accounts, people(MILLION, { now: Date.now(), passwordHash: '$argon2id$none' })),
    );

    test('first page of every user list, later pages, searches', async (t: TestContext) => {
      const { app } = world();
      const figures: Figure[] = [];
      for (const path of userLists) figures.push(await timedList(app, path));
      for (const path of await deepPages(app)) figures.push(await timedList(app, path));
      for (const figure of figures) t.diagnostic(lineOf(figure));
      const slow = figures.filter((figure) => isFirstPage(figure) && figure.cpuMs > FIRST_PAGE_MS);
      ok(slow.length === 0, slow.map(lineOf).join('\n'));
    });

    test('Admin UI pages, sign-in, memory', async (t: TestContext) => {
      const { app } = world();
      await app.createUser('root', { role: 'admin' });
      const agent = await enterConsole(app, 'root');
      for (const path of [
        '',
        '/users',
        '/users?search=smith',
        '/search?q=smith',
        '/search?q=nobody.has.this',
      ]) {
        t.diagnostic(lineOf(await timedPage(agent, `/admin${path}`, 5)));
      }
      const client = await app.register();
      const signIn = async (): Promise<undefined> => {
        await new Agent(app).signIn(client.id, { username: 'root', password: PASSWORD });
      };
      t.diagnostic(lineOf(await timed('sign-in', signIn)));
      t.diagnostic(`memory: ${Math.round(process.memoryUsage().rss / 1e6)} MB, the test included`);
    });
  });

  describe('a million events, sessions and refresh tokens', () => {
    const world = withFile(async (file) => {
      const when = { now: Date.now() };
      await fill(file, audit, history(MILLION, when));
      await fill(file, sessions, pastSessions(MILLION, when));
      await fill(file, refreshTokens, pastRefreshTokens(MILLION, when));
    });

    test('their lists', async (t: TestContext) => {
      for (const path of logLists) t.diagnostic(lineOf(await timedList(world().app, path, 5)));
    });

    test('purging all of them delays no request', async (t: TestContext) => {
      const { app } = world();
      // Beyond every retention.
      app.advance(500 * DAY);
      const delay = monitorEventLoopDelay({ resolution: 5 });
      delay.enable();
      const startedAt = performance.now();
      let isOver = false;
      const cleaning = app.app.jobs.tick().then(() => {
        isOver = true;
      });
      const answers: number[] = [];
      while (!isOver) {
        const askedAt = performance.now();
        await (await fetch(`${app.url}/oauth2/login`)).text();
        answers.push(performance.now() - askedAt);
      }
      await cleaning;
      delay.disable();
      const sorted = answers.toSorted((a, b) => a - b);
      t.diagnostic(
        `cleaned up in ${Math.round((performance.now() - startedAt) / 1000)} s; event loop held up p99 ` +
          `${(delay.percentile(99) / 1e6).toFixed(0)} ms, most ${(delay.max / 1e6).toFixed(0)} ms; meanwhile ` +
          `${answers.length} pages, median ${sorted[Math.floor(sorted.length / 2)]?.toFixed(0)} ms, ` +
          `p99 ${sorted[Math.floor(sorted.length * 0.99)]?.toFixed(0)} ms`,
      );
      const { body } = await app.admin('GET', '/sessions?limit=1');
      ok(Number(body.data.total) === 0, `${body.data.total} sessions are left`);
    });
  });
}
