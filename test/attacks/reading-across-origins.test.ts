// Attack: a script of another site reads responses that are not meant for it (checklist R010; Casdoor CVE-2024-41657).
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { CROSS_ORIGIN } from '../../src/http/cors.ts';
import { Agent, redeem } from '../support/agent.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { liftLimits } from './limits.ts';
import { type RawAnswer, send } from './raw-http.ts';
import { allRoutes } from './routes.ts';
import { honestRequest } from './sign-in-form.ts';

const FRIEND = 'https://app.example';
const STRANGERS = [
  'https://evil.example',
  'null',
  'https://app.example.evil.example',
  'http://app.example',
  'file://',
];

let app: TestApp;
let browserApp: { id: string; secret: string };
let serverApp: { id: string; secret: string };

before(async () => {
  app = await startApp();
  await liftLimits(app);
  browserApp = await app.register({ client_type: 'public', redirect_uris: [`${FRIEND}/callback`] });
  serverApp = await app.register();
  await app.createUser('alice');
});
after(() => app.stop());

const ofClients = CROSS_ORIGIN.client.map((path) => path.slice(path.lastIndexOf('/')));
const DOCUMENTS = /well-known|\/certs$/;
const ask = (path: string, origin: string, method = 'GET', body?: string): Promise<RawAnswer> =>
  send(app.url, {
    path,
    method,
    headers: [
      ['Origin', origin],
      ...(body === undefined ? [] : [['Content-Type', 'application/x-www-form-urlencoded'] as const]),
    ],
    ...(body === undefined ? {} : { body }),
  });

suite('attack: reading across origins', () => {
  test('pages, admin API, registration and errors allow no origin', async () => {
    const routes = (await allRoutes(app)).filter(
      ({ path }) => !DOCUMENTS.test(path) && !ofClients.some((endpoint) => path.endsWith(endpoint)),
    );
    for (const { method, path } of routes) {
      for (const origin of [FRIEND, ...STRANGERS]) {
        const { headers } = await ask(path, origin, method);
        for (const name of Object.keys(headers))
          assert.ok(!name.startsWith('access-control-'), `${name}: ${method} ${path} for ${origin}`);
      }
    }
  });

  test('the authorization endpoint allows no origin, with and without a session', async () => {
    const browser = new Agent(app);
    await browser.signIn(serverApp.id, { username: 'alice' });
    const query = new URLSearchParams(honestRequest(serverApp.id));
    for (const agent of [browser, new Agent(app)]) {
      for (const origin of [FRIEND, 'https://rp.example', app.url, ...STRANGERS]) {
        const page = await agent.get(`/oauth2/authorize?${query}`, { headers: { origin } });
        for (const name of page.headers.keys()) assert.ok(!name.startsWith('access-control-'), name);
      }
    }
  });

  test('credentials are never allowed across origins', async () => {
    for (const { method, path } of await allRoutes(app)) {
      const { headers } = await ask(path, FRIEND, method);
      assert.equal(headers['access-control-allow-credentials'], undefined, path);
    }
  });

  test('a token response is readable by the client’s own origin only', async () => {
    const form = (id: string): string =>
      new URLSearchParams({ client_id: id, grant_type: 'authorization_code', code: 'none' }).toString();
    const allowed = await ask('/oauth2/token', FRIEND, 'POST', form(browserApp.id));
    assert.equal(allowed.headers['access-control-allow-origin'], FRIEND);
    for (const origin of STRANGERS) {
      const { headers, body } = await ask('/oauth2/token', origin, 'POST', form(browserApp.id));
      assert.equal(headers['access-control-allow-origin'], undefined, origin);
      assert.doesNotMatch(body, /access_token/);
    }
    // An application with a secret is no script: no one's browser may read its answers.
    const server = await ask('/oauth2/token', 'https://rp.example', 'POST', form(serverApp.id));
    assert.equal(server.headers['access-control-allow-origin'], undefined);
  });

  test('userinfo is readable by the client’s own origin only', async () => {
    const authorization = await new Agent(app).signIn(serverApp.id, { username: 'alice' });
    const { body } = await redeem(app, serverApp, authorization);
    const readBy = async (origin: string): Promise<string | undefined> => {
      const headers = [
        ['Origin', origin],
        ['Authorization', `Bearer ${body.access_token}`],
      ] as const;
      const answer = await send(app.url, { path: '/oauth2/userinfo', headers });
      return answer.headers['access-control-allow-origin'];
    };
    assert.equal(await readBy('https://rp.example'), 'https://rp.example');
    for (const origin of [FRIEND, ...STRANGERS]) assert.equal(await readBy(origin), undefined, origin);
  });
});
