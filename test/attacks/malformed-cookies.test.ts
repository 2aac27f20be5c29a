// Attack: forged cookies at every address (authentik CVE-2026-25748: a malformed cookie counted as signed in).
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { Agent } from '../support/agent.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { liftLimits } from './limits.ts';
import { allRoutes, type Route } from './routes.ts';
import { inTurn } from './sizes.ts';

const COOKIE_KEY = 'cookie-key-of-this-test-0123456789-0123456789';
const NAMES = [
  'latchkey_session',
  'latchkey_resume',
  'latchkey_interaction',
  'latchkey_browser',
  'latchkey_admin',
  'latchkey_admin_signin',
] as const;

let app: TestApp;
let routes: Route[];
/** A live session's cookie and its signature. */
let session: { value: string; signature: string };
let identifiers: string[];

/** As Koa's cookies sign (keygrip). */
const signatureOf = (name: string, value: string, key: string): string =>
  createHmac('sha1', key)
    .update(`${name}=${value}`)
    .digest('base64')
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');

const signed = (name: string, value: string, key: string): string =>
  `${name}=${value}; ${name}.sig=${signatureOf(name, value, key)}`;

before(async () => {
  app = await startApp({ env: { COOKIE_KEYS: COOKIE_KEY } });
  const client = await app.register();
  await app.createUser('alice', { role: 'admin' });
  const browser = new Agent(app);
  await browser.signIn(client.id, { username: 'alice' });
  const cookies = new Map(
    browser
      .cookiesFor('/')
      .split('; ')
      .map((pair): [string, string] => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
  session = {
    value: cookies.get('latchkey_session') ?? assert.fail(),
    signature: cookies.get('latchkey_session.sig') ?? assert.fail(),
  };
  // The helper signs as the product does, or the attacks below would be shams.
  assert.equal(signatureOf('latchkey_session', session.value, COOKIE_KEY), session.signature);
  const { body } = await app.admin('GET', '/sessions');
  identifiers = [String(body.data.items?.[0]?.id), String(body.data.items?.[0]?.user_id)];
  await liftLimits(app);
  routes = (await allRoutes(app)).filter(({ method }) => method !== 'OPTIONS');
});
after(() => app.stop());

function ask(route: Route, cookie: string): Promise<Response> {
  const headers = { accept: 'text/html', ...(cookie === '' ? {} : { cookie }) };
  const body = route.body === undefined ? {} : { body: route.body === 'form' ? new URLSearchParams() : '{}' };
  return fetch(`${app.url}${route.path}`, { method: route.method, headers, redirect: 'manual', ...body });
}

/** What the answer gives away: where it leads and how it ends. */
async function outline(route: Route, cookie: string): Promise<string> {
  const response = await ask(route, cookie);
  const location =
    response.headers.get('location')?.replace(/(?:code_challenge|state|nonce)=[\w-]+/g, '') ?? '';
  const text = await response.text();
  assert.ok(response.status < 500, `${route.method} ${route.path} with ${cookie}: ${response.status}`);
  assert.doesNotMatch(text, /alice/);
  return `${route.method} ${route.path} ${response.status} ${location}`;
}

const garbage = (): string[] => [
  '',
  '.',
  'undefined',
  'null',
  '[object%20Object]',
  '__proto__',
  'constructor',
  '%00',
  '%ff%fe',
  '%E0%A4%A',
  '"quoted"',
  '{"accountId":"alice"}',
  "'%20or%201=1--",
  '../../etc/passwd',
  'a'.repeat(900),
  'ÿþ',
  ...identifiers,
];

suite('attack: forged cookies count as none, at every address', () => {
  let honest: string[];
  before(async () => {
    honest = await Promise.all(routes.map((route) => outline(route, '')));
  });

  let turn = 0;
  const check = async (cookie: string): Promise<void> => {
    turn += 1;
    const answers = await Promise.all(inTurn(routes, turn).map((route) => outline(route, cookie)));
    assert.deepEqual(answers, inTurn(honest, turn), cookie);
  };

  test('garbage', async () => {
    for (const value of garbage()) await check(NAMES.map((name) => `${name}=${value}`).join('; '));
  });

  test('garbage with a valid signature', async () => {
    for (const value of garbage()) {
      await check(NAMES.map((name) => signed(name, value, COOKIE_KEY)).join('; '));
    }
  });

  test('a live session with a missing, foreign or truncated signature', async () => {
    const { value, signature } = session;
    const foreign = signatureOf('latchkey_session', value, 'another-key-0123456789-0123456789-01234');
    const others = ['', foreign, signature.slice(0, -1), `${signature}A`, signature.toLowerCase(), 'x'];
    await check(`latchkey_session=${value}`);
    for (const other of others) await check(`latchkey_session=${value}; latchkey_session.sig=${other}`);
    await check(`latchkey_session=${value}; latchkey_session.sig=${signatureOf('other', value, COOKIE_KEY)}`);
  });

  test('a live session id, truncated or extended, with a valid signature', async () => {
    const { value } = session;
    for (const other of [
      value.slice(0, -1),
      value.slice(1),
      value.slice(0, 8),
      `${value}A`,
      value.toUpperCase(),
      `${value}%00`,
      `${value}.`,
    ]) {
      await check(signed('latchkey_session', other, COOKIE_KEY));
    }
  });

  test('a live session under the name of another cookie', async () => {
    for (const name of ['latchkey_browser', 'latchkey_resume', '__Host-latchkey_session', 'session']) {
      await check(signed(name, session.value, COOKIE_KEY));
    }
  });

  test('control: the live session still works', async () => {
    const { value, signature } = session;
    const route = routes.find(({ path, method }) => path === '/admin' && method === 'GET') ?? assert.fail();
    const cookie = `latchkey_session=${value}; latchkey_session.sig=${signature}`;
    const path = new URL((await ask(route, cookie)).headers.get('location') ?? '', app.url);
    const response = await ask({ method: 'GET', path: path.pathname + path.search }, cookie);
    assert.match(response.headers.get('location') ?? '', /\/admin\/callback\?code=/);
  });
});
