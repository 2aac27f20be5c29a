// Attack: headers that claim another host, scheme or path, to redirect links, cookies or metadata
// (Zitadel CVE-2025-64101, CVE-2023-49097, GHSA-pfrf-9r5f-73f5; Koa CVE-2026-27959).
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { decodeJwt } from 'jose';
import { Agent, redeem } from '../support/agent.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { liftLimits } from './limits.ts';
import { exchange, type RawAnswer, send, statusIn } from './raw-http.ts';
import { allRoutes } from './routes.ts';
import { honestRequest } from './sign-in-form.ts';
import { inTurn } from './sizes.ts';

const EVIL = 'evil.example';

const poisons: readonly (readonly (readonly [string, string])[])[] = [
  [['Host', EVIL]],
  [['Host', `${EVIL}:8080`]],
  [['Host', `localhost@${EVIL}`]],
  [['Host', `127.0.0.1.${EVIL}`]],
  [['Host', `[::1].${EVIL}`]],
  [['Host', `${EVIL}#`]],
  [['X-Forwarded-Host', EVIL]],
  [
    ['X-Forwarded-Host', EVIL],
    ['X-Forwarded-Proto', 'https'],
    ['X-Forwarded-Port', '666'],
    ['X-Forwarded-Prefix', `//${EVIL}`],
  ],
  [['Forwarded', `for=192.0.2.1;host=${EVIL};proto=https`]],
  [
    ['X-Original-URL', `http://${EVIL}/admin`],
    ['X-Rewrite-URL', `http://${EVIL}/admin`],
    ['X-Original-Host', EVIL],
  ],
  [
    ['X-Host', EVIL],
    ['X-Forwarded-Server', EVIL],
    ['X-HTTP-Host-Override', EVIL],
    ['Referer', `https://${EVIL}/`],
  ],
];

const shown = (answer: RawAnswer): string => `${JSON.stringify(answer.headers)}\n${answer.body}`;

/** Cookies without their values: name, path and flags. */
const cookieShapes = ({ headers }: RawAnswer): string[] =>
  (headers['set-cookie'] ?? []).map((line) =>
    line.replace(/=[^;]*/, '').replace(/[\w-]{40,}|expires=[^;]*/g, ''),
  );

async function everyPage(app: TestApp, clientId: string): Promise<string[]> {
  const query = new URLSearchParams(honestRequest(clientId));
  const pages = (await allRoutes(app)).filter(({ method, isAdmin }) => method === 'GET' && !isAdmin);
  return [
    ...pages.map(({ path }) => path),
    `/oauth2/authorize?${query}`,
    `/oauth2/authorize?${query}&prompt=none`,
    '/oauth2/authorize?client_id=unknown',
  ];
}

for (const [name, options] of Object.entries({
  'without a proxy': {},
  'behind a proxy': { env: { TRUST_PROXY: '1' } },
  'under a path': { path: '/auth' },
})) {
  suite(`attack: poisoned host, ${name}`, () => {
    test('appears in no page, redirect, cookie or document', async (t) => {
      const app = await startApp(options);
      t.after(() => app.stop());
      await liftLimits(app);
      const client = await app.register();
      const base = new URL(app.url).pathname.replace(/\/$/, '');
      for (const [turn, path] of (await everyPage(app, client.id)).entries()) {
        const honest = await send(app.url, { path: base + path });
        for (const headers of inTurn(poisons, turn)) {
          const answer = await send(app.url, { path: base + path, headers });
          const label = `${path} with ${JSON.stringify(headers)}`;
          assert.doesNotMatch(shown(answer), /evil\.example/, label);
          assert.doesNotMatch(answer.headers.location ?? '', /^https:(?!\/\/rp\.example\/)|:666/, label);
          assert.deepEqual(cookieShapes(answer), cookieShapes(honest), label);
          // Without a token metrics are for local callers alone, and whoever names another host may be none.
          const isHidden = path === '/metrics' && answer.status === 404;
          if (!isHidden) assert.equal(answer.status, honest.status, label);
        }
      }
    });

    test('a whole sign-in stays at BASE_URL', async (t) => {
      const app = await startApp(options);
      t.after(() => app.stop());
      const client = await app.register();
      await app.createUser('alice');
      const headers = { 'x-forwarded-host': EVIL, 'x-forwarded-proto': 'https', forwarded: `host=${EVIL}` };
      const browser = new Agent(app);
      const honest = browser.request.bind(browser);
      browser.request = (target, init = {}) =>
        honest(target, { ...init, headers: { ...init.headers, ...headers } });
      const authorization = await browser.signIn(client.id, { username: 'alice' });
      assert.equal(authorization.response.get('iss'), app.issuer);
      const { body } = await redeem(app, client, authorization);
      assert.equal(decodeJwt(body.id_token).iss, app.issuer);
      assert.equal(decodeJwt(body.access_token).iss, app.issuer);
    });
  });
}

test('attack: a request naming two hosts is refused or served under BASE_URL', async (t) => {
  const app = await startApp();
  t.after(() => app.stop());
  const { host } = new URL(app.url);
  const path = '/.well-known/openid-configuration';
  const close = 'Connection: close\r\n\r\n';

  const twice = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nHost: ${EVIL}\r\n${close}`;
  assert.equal(statusIn(await exchange(app.url, twice)), 400);
  const missing = `GET ${path} HTTP/1.1\r\n${close}`;
  assert.equal(statusIn(await exchange(app.url, missing)), 400);

  for (const target of [`http://${EVIL}${path}`, `https://${host}@${EVIL}${path}`]) {
    const answer = await exchange(app.url, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${close}`);
    assert.equal(statusIn(answer), 200, target);
    assert.doesNotMatch(answer, /evil\.example/);
  }
  for (const target of [`//${EVIL}/oauth2/login`, `/\\${EVIL}`, `/%2F%2F${EVIL}`, `${EVIL}:443`, '*']) {
    const answer = await exchange(app.url, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${close}`);
    assert.ok([400, 404].includes(statusIn(answer)), `${target}: ${answer.slice(0, 200)}`);
    assert.doesNotMatch(answer, /^location:/im, target);
  }
});

test('attack: a return address given by parameter (R005)', async (t) => {
  const app = await startApp();
  t.after(() => app.stop());
  const names = [
    'return_to',
    'returnTo',
    'next',
    'continue',
    'redirect',
    'redirect_uri',
    'url',
    'target',
    'goto',
  ];
  const query = names.map((name) => `${name}=${encodeURIComponent(`https://${EVIL}/`)}`).join('&');
  for (const path of [
    '/',
    '/onboard',
    '/oauth2/login',
    '/oauth2/consent',
    '/oauth2/logout',
    '/admin',
    '/oauth2/device',
  ]) {
    const answer = await send(app.url, { path: `${path}?${query}` });
    assert.doesNotMatch(answer.headers.location ?? '', /evil/, path);
    assert.doesNotMatch(answer.body, /(?:href|action|src)="[^"]*evil/, path);
  }
});
