// Attack: a page of another site has its reader's browser send requests that nobody sees: fetches without CORS, pictures, frames,
// forms in frames. They carry the reader's address, so whatever they are counted under is the limit of a whole network.
import { deepEqual, equal, match, notEqual } from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { Agent, challengeOf, type Page, VERIFIER } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp, type TestApp } from '../support/app.ts';
import { allRoutes, type Route } from './routes.ts';
import { openSignIn } from './sign-in-form.ts';

/** What Chromium sends with each, as test/browser/hostile-site.test.ts has it from a real one. */
const HIDDEN = {
  'a fetch without CORS': { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'empty' },
  'a picture': { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
  'a frame': {
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'iframe',
    'upgrade-insecure-requests': '1',
  },
  'a fetch in advance': {
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
    'sec-purpose': 'prefetch',
  },
} as const;
/** Chromium says of these what it says of a typed address, or nothing (test/browser/hostile-site.test.ts). */
const SENT_BY_NOBODY = {
  'what Speculation Rules fetch': {
    'sec-fetch-site': 'none',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
    'sec-purpose': 'prefetch',
    'upgrade-insecure-requests': '1',
  },
  'what Speculation Rules prepare': {
    'sec-fetch-site': 'none',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
    'sec-purpose': 'prefetch;prerender',
    'upgrade-insecure-requests': '1',
  },
  'a WebSocket': {
    origin: 'https://evil.example',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'J9QwLmSodGGGihF9Rr/VLw==',
  },
} as const;
const SITES = ['cross-site', 'same-site'] as const;

/** Paths that read no cookie or that others call by design; what holds there is tested below, and in the tests of CORS. */
const WITHOUT_COOKIES =
  /^\/(?:healthz|readyz|metrics|\.well-known\/|admin\/api(?:\/|$)|account\/api\/|avatars\/|assets\/|branding\/|realms\/|oauth2\/(?:token|userinfo|introspect|revoke|par|device_authorization|register|check_session|\.well-known|protocol)|oauth2\/logout)/;

let app: TestApp;
before(async () => {
  app = await startApp();
  await app.createUser('grace');
});
after(() => app.stop());

const reasonIn = ({ headers, body }: Page): string =>
  headers.get('content-type')?.includes('json') === true
    ? (JSON.parse(body).error?.reason ?? JSON.parse(body).reason ?? '')
    : (/request\.\w+/.exec(body)?.[0] ?? '');

const asked = (browser: Agent, { method, path, body }: Route, headers: Record<string, string>) =>
  browser.request(path, {
    method,
    headers: {
      ...headers,
      ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
    },
    ...(body !== undefined && { body: 'code=123456&token=abcdef&username=grace&password=x' }),
  });

suite('attack: hidden requests of a page on another site', () => {
  for (const [what, headers] of Object.entries(HIDDEN))
    for (const site of SITES)
      test(`${what}, ${site}: refused wherever cookies are read, sets none`, async () => {
        const { id } = await app.register();
        const { browser } = await openSignIn(app, id);
        const routes = (await allRoutes(app)).filter(({ path }) => !WITHOUT_COOKIES.test(path));
        notEqual(routes.length, 0);
        for (const route of routes) {
          // What a form in a frame asks for is in its body: the endpoint answers.
          if (what === 'a frame' && route.method === 'POST' && route.path === '/oauth2/authorize') continue;
          const given = { ...headers, 'sec-fetch-site': site, origin: 'https://evil.example' };
          const { origin: _, ...ofReading } = given;
          const page = await asked(browser, route, route.method === 'GET' ? ofReading : given);
          const about = `${route.method} ${route.path}: ${page.status}`;
          equal(page.status, 403, about);
          equal(reasonIn(page), 'request.cross_site', about);
          deepEqual(page.headers.getSetCookie(), [], about);
        }
      });

  for (const [what, headers] of Object.entries(SENT_BY_NOBODY))
    test(`${what}: refused wherever cookies are read, sets none`, async () => {
      const { id } = await app.register();
      const { browser } = await openSignIn(app, id);
      const routes = (await allRoutes(app)).filter(
        ({ method, path }) => method === 'GET' && (path === '/oauth2/logout' || !WITHOUT_COOKIES.test(path)),
      );
      notEqual(routes.length, 0);
      for (const route of routes) {
        const page = await asked(browser, route, headers);
        const about = `${route.method} ${route.path}: ${page.status}`;
        equal(page.status, 403, about);
        equal(reasonIn(page), 'request.cross_site', about);
        deepEqual(page.headers.getSetCookie(), [], about);
      }
    });

  test('attack: a page of a sibling fetches the sign-out in advance, with its reader’s cookies', async () => {
    const { id } = await app.register();
    const browser = new Agent(app);
    await browser.signIn(id, { username: 'grace' });
    for (const headers of Object.values(SENT_BY_NOBODY))
      equal((await browser.get('/oauth2/logout', { headers })).status, 403);
    equal((await browser.get('/account')).status, 200);
  });

  test('they use up no limit of the reader’s network', async () => {
    const limits = {
      limit_mfa_ip: 3,
      limit_register_ip: 3,
      limit_mail_ip: 3,
      limit_authorize_ip: 6,
      limit_open_signins_ip: 6,
      limit_public_requests_ip: 3,
    };
    const own = await startApp({ limits: 'shipped' });
    try {
      await own.createUser('grace');
      const { id } = await own.register();
      await own.admin('PATCH', '/settings', { ...limits, allow_self_signup: true, allow_magic_link: true });
      const reader = new Agent(own);
      const form = { 'content-type': 'application/x-www-form-urlencoded', origin: 'https://evil.example' };
      const request = new URLSearchParams({
        client_id: id,
        redirect_uri: REDIRECT_URI,
        response_type: 'code',
        scope: 'openid',
        code_challenge: challengeOf(VERIFIER),
        code_challenge_method: 'S256',
      });
      for (const headers of Object.values(HIDDEN))
        for (const site of SITES)
          for (const [path, body] of [
            ['/oauth2/mfa', 'code=123456'],
            ['/oauth2/recover', 'code=a'],
            ['/oauth2/reset-password', 'token=a'],
            ['/oauth2/signup', 'username=a'],
            ['/oauth2/signup/verify', 'code=1'],
            ['/oauth2/enrol', 'token=a'],
            ['/oauth2/forgot-password', 'username=grace'],
            ['/oauth2/passkey/login/finish', 'a=b'],
            ['/oauth2/passkey/login/begin', 'a=b'],
            [`/oauth2/authorize?${request}`, undefined],
            ['/oauth2/device', undefined],
          ] as const)
            await reader.request(path, {
              method: body === undefined ? 'GET' : 'POST',
              headers: { ...(body !== undefined && form), ...headers, 'sec-fetch-site': site },
              ...(body !== undefined && { body }),
            });

      const { code } = await reader.signIn(id, { username: 'grace' });
      match(code, /./);
      for (const path of ['/oauth2/reset-password', '/oauth2/mfa', '/oauth2/signup', '/oauth2/recover']) {
        const page = await reader.post(path, { token: 'x', code: 'x' });
        notEqual(page.status, 429, path);
      }
      for (const path of ['/oauth2/device', '/oauth2/forgot-password'])
        equal((await reader.get(path)).status, 200, path);
    } finally {
      await own.stop();
    }
  });
});

suite('silent sign-in in a frame of another site', () => {
  const frame = { ...HIDDEN['a frame'], 'sec-fetch-site': 'same-site' };
  const query = (id: string, more: Record<string, string>) =>
    `/oauth2/authorize?${new URLSearchParams({
      client_id: id,
      redirect_uri: REDIRECT_URI,
      response_type: 'code',
      scope: 'openid',
      code_challenge: challengeOf(VERIFIER),
      code_challenge_method: 'S256',
      ...more,
    })}`;

  test('prompt=none is answered and takes no place of an open sign-in', async () => {
    const { id } = await app.register();
    await app.admin('PATCH', '/settings', { limit_open_signins_ip: 1, limit_authorize_ip: 2 });
    try {
      const browser = new Agent(app);
      for (let turn = 0; turn < 5; turn += 1) {
        const asked = { prompt: 'none', ...(turn % 2 === 1 && { response_mode: 'form_post' }) };
        const page = await browser.get(query(id, asked), { headers: frame });
        match(page.location ?? page.body, /login_required/);
      }
      await browser.signIn(id, { username: 'grace', password: PASSWORD });
      const silent = await browser.get(query(id, { prompt: 'none' }), { headers: frame });
      match(silent.location ?? '', /[?&]code=/);
    } finally {
      await app.admin('PATCH', '/settings', { limit_open_signins_ip: 2000, limit_authorize_ip: 50_000 });
    }
  });

  test('attack: a page is asked for by a pushed request or a body', async () => {
    const { id, secret } = await app.register();
    const push = async (more: Record<string, string>): Promise<string> => {
      const asked = new URLSearchParams(query(id, more).split('?', 2)[1]);
      const answer = await fetch(`${app.url}/oauth2/par`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` },
        body: asked,
      });
      equal(answer.status, 201);
      const uri = String(Object(await answer.json()).request_uri);
      return `/oauth2/authorize?${new URLSearchParams({ client_id: id, request_uri: uri })}`;
    };
    const browser = new Agent(app);
    await browser.signIn(id, { username: 'grace', password: PASSWORD });
    for (const page of [
      await browser.get(await push({}), { headers: frame }),
      await new Agent(app).get(await push({}), { headers: frame }),
      await browser.get(`${await push({ prompt: 'login' })}&prompt=none`, { headers: frame }),
      await browser.request('/oauth2/authorize', {
        method: 'POST',
        headers: { ...frame, 'content-type': 'application/x-www-form-urlencoded' },
        body: query(id, {}).split('?', 2)[1] ?? '',
      }),
    ]) {
      equal(page.status, 403, page.body);
      match(page.body, /request\.cross_site/);
      deepEqual(page.headers.getSetCookie(), []);
    }
    const silent = await browser.get(await push({ prompt: 'none' }), { headers: frame });
    match(silent.location ?? '', /[?&]code=/);
  });
});

suite('our own forms', () => {
  /** A form of ours that needs nothing else. */
  const submit = (headers: Record<string, string>) =>
    new Agent(app).request('/oauth2/language', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: 'language=de&to=/',
    });
  const whole = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

  test('attack: another site submits one, with and without Sec-Fetch-Site', async () => {
    for (const headers of [
      { ...whole, 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
      { ...whole, 'sec-fetch-site': 'same-site', origin: 'null' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-mode': 'cors', origin: 'https://evil.example' },
      // Its name leads here (DNS rebinding).
      { ...whole, 'sec-fetch-site': 'same-origin', origin: 'http://evil.example' },
    ]) {
      const page = await submit(headers);
      equal(page.status, 403, JSON.stringify(headers));
      deepEqual(page.headers.getSetCookie(), []);
    }
  });

  test('a page of ours, the person and programs submit them', async () => {
    const ours = new URL(app.url).origin;
    for (const headers of [
      { ...whole, 'sec-fetch-site': 'same-origin', origin: ours },
      { ...whole, 'sec-fetch-site': 'same-origin', origin: 'null' },
      { ...whole, 'sec-fetch-site': 'none' },
      { origin: ours },
      // Node's fetch.
      { 'sec-fetch-mode': 'cors' },
      {},
    ])
      equal((await submit(headers)).status, 303, JSON.stringify(headers));
  });

  test('pages say Referrer-Policy: same-origin', async () => {
    for (const path of ['/onboard', '/oauth2/forgot-password', '/oauth2/device', '/nothing'])
      match((await new Agent(app).get(path)).headers.get('referrer-policy') ?? '', /^same-origin$/, path);
  });
});

suite('endpoints with CORS', () => {
  test('attack: a fetch without CORS is refused, a revocation is not', async () => {
    const hidden = { ...HIDDEN['a fetch without CORS'], 'sec-fetch-site': 'cross-site' };
    for (const path of ['token', 'userinfo', 'introspect', 'par', 'device_authorization', 'register'])
      equal(
        (
          await new Agent(app).request(`/oauth2/${path}`, {
            method: 'POST',
            headers: { ...hidden, 'content-type': 'application/x-www-form-urlencoded' },
            body: 'a=b',
          })
        ).status,
        403,
        path,
      );
    equal((await new Agent(app).get('/.well-known/jwks.json', { headers: hidden })).status, 403);
    const revoked = await new Agent(app).request('/oauth2/revoke', {
      method: 'POST',
      headers: { ...hidden, 'content-type': 'application/x-www-form-urlencoded' },
      body: 'token=abc',
    });
    equal(revoked.status, 200);
  });
});
