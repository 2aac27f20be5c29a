// Attack: scripts of another site use the endpoints with CORS, where a request of theirs is answered: wrong codes, passwords and
// bearers by the reader's browser. They are counted for their origin. Requests that are refused for what they are have a counter of
// their own, which refuses nothing else.
import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { ofOrigin, turnOf } from '../../src/rate-limits/index.ts';
import { Agent, VERIFIER } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp, type TestApp } from '../support/app.ts';

const EVIL = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' };
const OURS = { ...EVIL, origin: new URL(REDIRECT_URI).origin };
const OTHER = { ...EVIL, origin: 'https://other.example' };

let app: TestApp;
before(async () => {
  app = await startApp();
  await app.createUser('grace');
});
after(() => app.stop());

const limit = (values: Record<string, unknown>) => app.admin('PATCH', '/settings', values);

const token = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
  new Agent(app).post('/oauth2/token', fields, {
    headers: { accept: 'application/json', 'sec-fetch-mode': 'cors', ...headers },
  });

const wrongCode = (id: string) => ({
  grant_type: 'authorization_code',
  client_id: id,
  code: 'x'.repeat(43),
  redirect_uri: REDIRECT_URI,
  code_verifier: VERIFIER,
});

suite('attack: a script of another site at the endpoints with CORS', () => {
  test('wrong codes: its own are refused, those of applications and programs are not', async () => {
    const { id } = await app.register({ token_endpoint_auth_method: 'none', require_pkce: true });
    await app.register({ redirect_uris: ['https://other.example/callback'] });
    await limit({ limit_token_ip: 4 });
    try {
      const statuses: number[] = [];
      for (let turn = 0; turn < 8; turn += 1) statuses.push((await token(wrongCode('nobody'), EVIL)).status);
      deepEqual([statuses[0], statuses.at(-1)], [401, 429]);
      // All that nobody has registered are one: another name is no way around it.
      equal((await token(wrongCode('nobody'), { ...EVIL, origin: 'https://evil-2.example' })).status, 429);
      equal((await token(wrongCode('nobody'), { ...EVIL, origin: 'null' })).status, 429);
      for (let turn = 0; turn < 8; turn += 1) await token(wrongCode('nobody'), OTHER);
      equal((await token(wrongCode('nobody'), OTHER)).status, 429);

      for (const headers of [OURS, {}]) equal((await token(wrongCode(id), headers)).status, 400);
      const { code, verifier } = await new Agent(app).signIn(id, { username: 'grace' });
      const redeemed = await token({ ...wrongCode(id), code, code_verifier: verifier }, OURS);
      equal(redeemed.status, 200, redeemed.body);
    } finally {
      await limit({ limit_token_ip: 1_000_000 });
    }
  });

  test('wrong passwords by the page of an application leave the reader’s own sign-in alone', async () => {
    const { id, secret } = await app.register({ grant_types: ['authorization_code', 'password'] });
    await limit({ limit_login_ip: 4 });
    try {
      const statuses: number[] = [];
      for (let turn = 0; turn < 8; turn += 1)
        statuses.push(
          (
            await token(
              {
                grant_type: 'password',
                client_id: id,
                client_secret: secret,
                username: `nobody-${turn}`,
                password: 'x',
              },
              OURS,
            )
          ).status,
        );
      deepEqual([statuses[0], statuses.at(-1)], [400, 429]);
      notEqual((await new Agent(app).signIn(id, { username: 'grace', password: PASSWORD })).code, '');
    } finally {
      await limit({ limit_login_ip: 1_000_000 });
    }
  });

  test('wrong bearers at the account API leave those of programs alone', async () => {
    await limit({ limit_admin_failures_ip: 4 });
    const ask = (headers: Record<string, string>) =>
      new Agent(app).get('/account/api/profile', {
        headers: { authorization: 'Bearer nothing', 'sec-fetch-mode': 'cors', ...headers },
      });
    try {
      const statuses: number[] = [];
      for (let turn = 0; turn < 8; turn += 1) statuses.push((await ask(EVIL)).status);
      deepEqual([statuses[0], statuses.at(-1)], [401, 429]);
      equal((await ask({})).status, 401);
    } finally {
      await limit({ limit_admin_failures_ip: 1_000_000 });
    }
  });
});

suite('attack: a program that names the origins of others', () => {
  test('each is another budget of wrong passwords only up to a ceiling of its address', async () => {
    const { id, secret } = await app.register({ grant_types: ['authorization_code', 'password'] });
    const origins = Array.from({ length: 40 }, (_, at) => `https://app-${at}.example`);
    await app.admin('PATCH', `/clients/${id}`, { web_origins: origins });
    // Origins of applications are read every ten seconds.
    app.advance(60_000);
    await limit({ limit_login_ip: 2 });
    const guess = (headers: Record<string, string>, turn: number) =>
      token(
        {
          grant_type: 'password',
          client_id: id,
          client_secret: secret,
          username: `somebody-${turn}`,
          password: 'x',
        },
        headers,
      );
    try {
      let checked = 0;
      for (const [at, origin] of origins.entries())
        for (const turn of [1, 2]) if ((await guess({ origin }, 10 * at + turn)).status === 400) checked += 1;
      // Sixteen times an address's own, and what this process adds up before it tells the others.
      ok(checked >= 2 * 16 && checked <= 2 * 16 + 4, `${checked} guesses`);
      equal((await guess({}, 1000)).status, 400);
      notEqual((await new Agent(app).signIn((await app.register()).id, { username: 'grace' })).code, '');
    } finally {
      await limit({ limit_login_ip: 1_000_000 });
    }
  });

  test('origins have one turn together where password hashes wait', () => {
    const named = (origin: string) => turnOf(ofOrigin('192.0.2.7', origin));
    const [one, other, none] = [named('https://a.example'), named('https://b.example'), turnOf('192.0.2.7')];
    deepEqual(one.slice(0, -1), none.slice(0, -1));
    deepEqual(other.slice(0, -1), none.slice(0, -1));
    equal(new Set([one, other, none].map((path) => path.at(-1))).size, 3);
  });
});

suite('the counter of refusals', () => {
  test('attack: what a page of another site is refused makes no other refusal silent', async () => {
    const { id } = await app.register({ token_endpoint_auth_method: 'none', require_pkce: true });
    await limit({ limit_refusals_ip: 3 });
    try {
      const statuses: number[] = [];
      for (const headers of [
        { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'empty' },
        { origin: 'https://evil.example' },
      ])
        for (let turn = 0; turn < 6; turn += 1)
          statuses.push((await new Agent(app).request('/oauth2/mfa', { method: 'POST', headers })).status);
      deepEqual([statuses[0], statuses.at(-1)], [403, 429]);
      // A page whose cookies are gone says so, and an application reads what it did wrong.
      const page = await new Agent(app).post('/oauth2/language', { language: 'de' });
      equal(page.status === 429, false, page.body);
      equal((await token({ client_id: id })).status, 400);
      equal((await token({ client_id: id }, OURS)).status, 400);
    } finally {
      await limit({ limit_refusals_ip: 1_000_000 });
    }
  });

  test('refuses refusals alone, and they are counted nowhere else', async () => {
    await limit({ limit_refusals_ip: 5, limit_mfa_ip: 2, limit_register_ip: 2, limit_mail_ip: 2 });
    try {
      const hidden = {
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'no-cors',
        'sec-fetch-dest': 'empty',
      };
      const post = (path: string, headers: Record<string, string>) =>
        new Agent(app).request(path, { method: 'POST', headers, body: 'a=b' });
      const statuses: number[] = [];
      for (let turn = 0; turn < 9; turn += 1) statuses.push((await post('/oauth2/mfa', hidden)).status);
      deepEqual([statuses[0], statuses.at(-1)], [403, 429]);
      // Of a wrong type, and without the form's token; these are the network's own.
      for (let turn = 0; turn < 5; turn += 1)
        equal((await post('/oauth2/mfa', { 'content-type': 'text/plain' })).status, 415);
      for (const path of ['/oauth2/mfa', '/oauth2/signup', '/oauth2/forgot-password'])
        for (let turn = 0; turn < 4; turn += 1) {
          equal((await post(path, { 'content-type': 'text/plain' })).status, 429, path);
          await post(path, { 'content-type': 'application/x-www-form-urlencoded' });
        }

      const { id } = await app.register();
      notEqual((await new Agent(app).signIn(id, { username: 'grace' })).code, '');
      const reader = new Agent(app);
      await app.admin('PATCH', '/settings', { smtp_url: 'smtp://127.0.0.1:9' });
      const forgotten = await reader.get('/oauth2/forgot-password');
      notEqual((await reader.submit(forgotten, { username: 'grace', email: 'grace' })).status, 429);
    } finally {
      await limit({
        limit_refusals_ip: 1_000_000,
        limit_mfa_ip: 1_000_000,
        limit_register_ip: 1_000_000,
        limit_mail_ip: 1_000_000,
      });
    }
  });
});
