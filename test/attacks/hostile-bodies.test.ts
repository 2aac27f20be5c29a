// Attack: bodies that are too large, too deep, too many, broken or of another type, at every address that takes one.
// The server is a process of its own, whose memory and exit are observed.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { residentMib, type ServerProcess, startServer } from '../processes/server-process.ts';
import { Agent, hiddenFields } from '../support/agent.ts';
import { ADMIN_TOKEN, PASSWORD } from '../support/app.ts';
import { isWithin } from '../support/patience.ts';
import { type Hostile, hopeless, long } from './hostile-values.ts';
import { liftLimits } from './limits.ts';
import { pooled } from './pool.ts';
import { type RawAnswer, send } from './raw-http.ts';
import { allRoutes, type Route } from './routes.ts';
import { inTurn } from './sizes.ts';

const MAX_MS = 2000;
// A young heap takes what it is given before it looks what it can give back; what counts is that it stops growing.
const MAX_FIRST_GROWTH_MIB = 120;
// How much two more waves may add once memory has settled.
const SETTLED_MIB = 10;
const MOST_WAVES = 12;

// Where a request without a type is one without parameters, as a request without a body is.
const UNTYPED = /\/(?:logout|revoke)$/;

let server: ServerProcess;
let folder: string;
let routes: Route[];
let cookies: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-bodies-'));
  server = await startServer({ dataDir: folder, env: { LOG_LEVEL: 'warn' } });
  const browser = new Agent(server);
  const page = await browser.get('/onboard');
  const person = { username: 'root-admin', password: PASSWORD, confirm_password: PASSWORD };
  await browser.post('/oauth2/onboard', { ...hiddenFields(page.body), ...person });
  cookies = browser.cookiesFor('/');
  await liftLimits(server);
  routes = (await allRoutes(server)).filter(({ body }) => body !== undefined);
  assert.ok(routes.length > 30);
});
after(async () => {
  const { code } = await server.stop();
  await rm(folder, { recursive: true });
  assert.equal(code, 0);
});

function attack(route: Route, hostile: Hostile): Promise<RawAnswer> {
  return send(server.url, {
    method: route.method,
    path: route.path,
    body: hostile.body,
    headers: [
      // A sign-out comes first and complains then (decision 0005): it would end the session of all other requests.
      ...(route.path === '/oauth2/logout' ? [] : [['Cookie', cookies] as const]),
      ['Accept', route.path.startsWith('/admin/api') ? '*/*' : 'text/html'],
      ...(route.isAdmin === true ? [['Authorization', `Bearer ${ADMIN_TOKEN}`] as const] : []),
      ...(hostile.type === undefined ? [] : [['Content-Type', hostile.type] as const]),
      ...(hostile.headers ?? []),
    ],
  });
}

/** Clear: a page with a heading, or an error with a sentence. */
function assertClear(label: string, { body }: RawAnswer): void {
  assert.doesNotMatch(
    body,
    /\bat [\w.<>]+ \(|node_modules|\.[jt]s:\d+|RangeError|SyntaxError|TypeError/,
    label,
  );
  const isPage = body.trimStart().startsWith('<!doctype');
  const { error, error_description: description } = isPage ? {} : JSON.parse(body);
  const sentence = isPage ? /<h1>([^<]*)<\/h1>/.exec(body)?.[1] : (description ?? error?.message);
  assert.ok(String(sentence ?? '').length > 5, `${label}: ${body}`);
}

async function assertHealthy(): Promise<void> {
  const answer = await send(server.url, { path: '/readyz' });
  assert.equal(answer.status, 200);
  assert.ok(isWithin(answer.elapsedMs, MAX_MS));
}

for (const kind of ['form', 'json'] as const) {
  suite(`attack: hostile ${kind} bodies at every address that takes one`, () => {
    for (const [turn, [name, hostile]] of Object.entries(hopeless[kind]).entries()) {
      test(`refuses: ${name}`, async () => {
        const targets = routes.filter(
          ({ body, path }) => body === kind && (hostile.type !== undefined || !UNTYPED.test(path)),
        );
        const before = await residentMib(server.pid);
        await pooled(inTurn(targets, turn), 4, async (route) => {
          const label = `${route.method} ${route.path}: ${name}`;
          const answer = await attack(route, hostile);
          assert.ok(
            answer.status >= 400 && answer.status < 500,
            `${label}: ${answer.status} ${answer.body.slice(0, 500)}`,
          );
          assert.ok(isWithin(answer.elapsedMs, MAX_MS), `${label}: ${answer.elapsedMs} ms`);
          assertClear(label, answer);
        });
        await assertHealthy();
        const growth = (await residentMib(server.pid)) - before;
        assert.ok(growth <= MAX_FIRST_GROWTH_MIB, `grew by ${growth} MiB`);
      });
    }

    test('survives fields of 10,000 characters and odd values', async () => {
      for (const [turn, hostile] of long[kind].entries()) {
        await pooled(
          inTurn(
            routes.filter(({ body }) => body === kind),
            turn,
          ),
          4,
          async (route) => {
            const label = `${route.method} ${route.path}: ${String(hostile.body).slice(0, 60)}`;
            const answer = await attack(route, hostile);
            assert.ok(
              answer.status > 0 && answer.status < 500,
              `${label}: ${answer.status} ${answer.body.slice(0, 500)}`,
            );
            assert.ok(isWithin(answer.elapsedMs, MAX_MS), `${label}: ${answer.elapsedMs} ms`);
          },
        );
      }
      await assertHealthy();
    });
  });
}

test('attack: the largest bodies repeatedly; memory does not grow', async () => {
  const heavy = ['10 MiB', '1 MiB without a length', '40,000 deep', '9,000 keys', 'a list of 40,000'];
  const targets = inTurn(
    routes.filter(({ body }) => body === 'json'),
    0,
  );
  const wave = async (): Promise<void> => {
    for (const name of heavy) {
      await pooled(targets, 4, (route) => attack(route, hopeless.json[name] ?? assert.fail(name)));
    }
  };
  // How much a heap takes before it gives back differs by machine and moment; a leak grows with every wave.
  const highest: number[] = [];
  const isSettled = (): boolean => (highest.at(-1) ?? 0) - (highest.at(-3) ?? 0) <= SETTLED_MIB;
  while (highest.length < 4 || !isSettled()) {
    assert.ok(highest.length < MOST_WAVES, `grows and grows: ${highest.map(Math.round).join(', ')} MiB`);
    await wave();
    highest.push(Math.max(await residentMib(server.pid), ...highest));
  }
});

test('attack: hostile bodies leave nothing in the store, prototypes or log', async () => {
  const { body } = await server.admin('GET', '/users?limit=1000');
  assert.deepEqual(
    body.data.items?.map(({ username }) => username),
    ['root-admin'],
  );
  const { status } = await server.admin('POST', '/users', { username: 'after-all', password: PASSWORD });
  assert.equal(status, 201);
  assert.deepEqual(
    server.logged.filter(({ level }) => level === 'error' || level === 'fatal'),
    [],
  );
});
