// Attack: a script of another site reads responses that are not meant for it (Casdoor CVE-2024-41657).
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
const WIDGET = 'https://widget.example';
const STRANGERS = [
  'https://evil.example',
  'null',
  'file://',
  // Lookalikes of FRIEND and WIDGET.
  'https://app.example.evil.example',
  'https://evil-app.example',
  'https://app.example@evil.example',
  'https://app.example.',
  'https://app.example:8443',
  'https://APP.example',
  'http://app.example',
  'http://widget.example',
  'https://sub.widget.example',
  'https://widget.example/',
];

let app: TestApp;
let browserApp: { id: string; secret: string };
let serverApp: { id: string; secret: string };

before(async () => {
  app = await startApp();
  await liftLimits(app);
  browserApp = await app.register({
    client_type: 'public',
    redirect_uris: [`${FRIEND}/callback`],
    web_origins: [WIDGET],
  });
  serverApp = await app.register();
  await app.createUser('alice');
});
after(() => app.stop());

const DOCUMENTS = /well-known|\/certs$|^\/account\/api\/openapi\.json$/;
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

const ALIAS: Readonly<Record<string, string>> = {
  'token/introspect': 'introspect',
  'auth/device': 'device_authorization',
};
/** The path that a request for this one reaches. */
function targetOf(path: string): string {
  const [, name = ''] = /\/protocol\/openid-connect\/(.+)$/.exec(path) ?? [];
  return name === '' ? path : `/oauth2/${ALIAS[name] ?? name}`;
}
const isOfClients = (path: string): boolean => Object.hasOwn(CROSS_ORIGIN.client, targetOf(path));
const isOfBearers = (path: string): boolean => path.startsWith('/account/api/') && !DOCUMENTS.test(path);
const corsOf = ({ headers }: RawAnswer): string[] =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'));

suite('attack: reading across origins', () => {
  test('every address without a client or token allows no origin, but for public documents', async () => {
    for (const { method, path } of await allRoutes(app)) {
      for (const origin of [FRIEND, 'https://evil.example', 'null']) {
        const answer = await ask(path, origin, method);
        if (!DOCUMENTS.test(path)) assert.deepEqual(corsOf(answer), [], `${method} ${path} for ${origin}`);
        else if (answer.status === 200 && answer.headers['access-control-allow-origin'] !== undefined)
          assert.equal(answer.headers['access-control-allow-origin'], '*', path);
      }
    }
  });

  test('every address: a preflight is answered where CROSS_ORIGIN says so, never for null', async () => {
    const paths = new Set((await allRoutes(app)).map(({ path }) => path));
    for (const path of paths) {
      for (const origin of [FRIEND, 'https://evil.example', 'null']) {
        const answer = await send(app.url, {
          path,
          method: 'OPTIONS',
          headers: [
            ['Origin', origin],
            ['Access-Control-Request-Method', 'POST'],
          ],
        });
        const isOpen = isOfClients(path) || isOfBearers(path) || DOCUMENTS.test(path);
        const isAnswered = corsOf(answer).length > 0;
        if (!isOpen || (origin === 'null' && !DOCUMENTS.test(path)))
          assert.equal(isAnswered, false, `${path} for ${origin}`);
        else if (isOfClients(path) || isOfBearers(path))
          assert.equal(isAnswered, true, `${path} for ${origin}`);
        const credentials = answer.headers['access-control-allow-credentials'];
        assert.equal(credentials, isAnswered && isOfClients(path) ? 'true' : undefined, path);
      }
    }
  });

  test('every endpoint of clients: readable by the origins of the client in the request, exactly', async () => {
    const form = new URLSearchParams({ client_id: browserApp.id, scope: 'openid' }).toString();
    for (const path of Object.keys(CROSS_ORIGIN.client).filter((path) => !path.endsWith('/userinfo'))) {
      for (const origin of [FRIEND, WIDGET]) {
        const { headers } = await ask(path, origin, 'POST', form);
        assert.equal(headers['access-control-allow-origin'], origin, path);
        assert.equal(headers['access-control-allow-credentials'], 'true', path);
        assert.match(String(headers.vary), /Origin/i);
      }
      for (const origin of STRANGERS)
        assert.deepEqual(corsOf(await ask(path, origin, 'POST', form)), [], `${path} for ${origin}`);
      const unknown = await ask(path, FRIEND, 'POST', 'client_id=unknown&scope=openid');
      assert.deepEqual(corsOf(unknown), [], path);
      // One client's origin is not another's.
      const other = await ask(path, FRIEND, 'POST', `client_id=${serverApp.id}&scope=openid`);
      assert.deepEqual(corsOf(other), [], path);
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

  test('credentials are allowed across origins only where none count', async () => {
    for (const { method, path } of await allRoutes(app)) {
      if (isOfClients(path)) continue;
      const { headers } = await ask(path, FRIEND, method);
      assert.equal(headers['access-control-allow-credentials'], undefined, path);
    }
    const browser = new Agent(app);
    await browser.signIn(serverApp.id, { username: 'alice' });
    // The endpoints that allow them do not know the browser's session.
    const page = await browser.post('/oauth2/userinfo', {}, { headers: { origin: 'https://rp.example' } });
    assert.deepEqual([page.status, page.headers.get('access-control-allow-origin')], [401, null]);
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
    // Forged: the client of a token counts only if we signed it.
    const [header, payload] = body.access_token.split('.');
    const forged = await send(app.url, {
      path: '/oauth2/userinfo',
      headers: [
        ['Origin', 'https://rp.example'],
        ['Authorization', `Bearer ${header}.${payload}.AAAA`],
      ],
    });
    assert.deepEqual([forged.status, corsOf(forged)], [401, []]);
  });
});
