// Attack: reading secrets in the log. Every secret of a day of use (passwords, cookies, codes, tokens, keys),
// and canaries wherever a user or client could enter one by mistake, are searched for in the log at its lowest level.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Agent, hiddenFields, redeem, refresh, requestTokens } from '../support/agent.ts';
import { ADMIN_TOKEN, REDIRECT_URI, startApp, type TestApp } from '../support/app.ts';
import { liftLimits } from './limits.ts';
import { send } from './raw-http.ts';
import { honestRequest, openSignIn, PASSWORD_GRANT, passwordGrant, VERIFIER } from './sign-in-form.ts';
import { sized } from './sizes.ts';

const DAYS = sized(3, 100);
const FORM = ['Content-Type', 'application/x-www-form-urlencoded'] as const;
const JSON_TYPE = ['Content-Type', 'application/json'] as const;

let app: TestApp;
const secrets = new Map<string, string>();
let canaries = 0;

before(async () => {
  app = await startApp({ store: 'sqlite' });
  await liftLimits(app);
});
after(() => app.stop());

/** Something that must not be logged, easy to find. */
function canary(kind: string): string {
  canaries += 1;
  const value = `Canary${canaries}-${kind}-${Math.random().toString(36).slice(2, 12)}`;
  secrets.set(value, kind);
  return value;
}

function remember(kind: string, value: unknown): void {
  if (typeof value === 'string' && value.length >= 16) secrets.set(value, kind);
}

/** A browser whose cookies are remembered, and the codes that it is sent. */
function watchedBrowser(): Agent {
  const browser = new Agent(app);
  const request = browser.request.bind(browser);
  browser.request = async (target, init) => {
    const page = await request(target, init);
    for (const line of page.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      remember(`cookie ${name}`, value);
    }
    if (page.location !== undefined) remember('code', new URL(page.location).searchParams.get('code'));
    for (const [name, value] of Object.entries(hiddenFields(page.body))) {
      if (name === 'csrf' || name === 'xsrf') remember(name, value);
    }
    return page;
  };
  return browser;
}

async function oneDay(day: number): Promise<void> {
  const password = canary('password');
  const client = await app.register({
    ...PASSWORD_GRANT,
    client_name: `Application ${day}`,
    keycloak_tokens: day % 2 === 1,
  });
  remember('client secret', client.secret);
  const username = `person-${day}`;
  const { id } = await app.createUser(username, { password });
  const browser = watchedBrowser();

  // Rightly.
  const authorization = await browser.signIn(client.id, { username, password });
  remember('verifier', authorization.verifier);
  const { body } = await redeem(app, client, authorization);
  const rotated = await refresh(app, client, body.refresh_token);
  const granted: Record<string, unknown> = JSON.parse(
    await (await passwordGrant(app, client, username, password)).text(),
  );
  for (const tokens of [body, rotated.body, granted]) {
    for (const name of ['access_token', 'refresh_token', 'id_token']) remember(name, tokens[name]);
    const [, claims = ''] = String(tokens.refresh_token).split('.');
    if (claims !== '') remember('jti of a refresh token', JSON.parse(atob(claims)).jti);
  }
  const bearer = ['Authorization', `Bearer ${body.access_token}`] as const;
  await send(app.url, { path: '/oauth2/userinfo', headers: [bearer] });
  await send(app.url, { path: `/oauth2/userinfo?access_token=${body.access_token}` });
  await send(app.url, {
    path: '/oauth2/introspect',
    method: 'POST',
    headers: [FORM, bearer],
    body: `token=${body.refresh_token}`,
  });
  await send(app.url, {
    path: '/oauth2/revoke',
    method: 'POST',
    headers: [FORM],
    body: `token=${rotated.body.refresh_token}`,
  });
  await browser.get(`/oauth2/logout?id_token_hint=${body.id_token}`);

  // By mistake: secrets where they don't belong.
  const form = await openSignIn(app, client.id, {}, browser);
  await form.attempt(canary('password as username'), canary('username as password'));
  await form.attempt(username, canary('wrong password'));
  await browser.get(`/oauth2/login?username=${username}&password=${canary('password in the query')}`);
  await browser.get(
    `/oauth2/authorize?client_secret=${canary('secret in the query')}&code=${canary('code')}`,
  );
  await send(app.url, {
    path: `/?token=${canary('token')}`,
    headers: [['Referer', `https://rp.example/?code=${canary('referer')}`]],
  });
  await send(app.url, {
    path: '/oauth2/userinfo',
    headers: [['Authorization', `Bearer ${canary('bearer')}`]],
  });
  await send(app.url, {
    path: '/admin/api/users',
    headers: [['Authorization', `Bearer ${canary('admin bearer')}`]],
  });
  await send(app.url, {
    path: '/admin/api/users',
    headers: [['Authorization', `Basic ${btoa(`a:${canary('basic')}`)}`]],
  });
  await send(app.url, {
    path: '/',
    headers: [['Cookie', `latchkey_session=${canary('cookie')}; other=${canary('cookie')}`]],
  });
  await requestTokens(
    app,
    { ...client, secret: canary('client secret') },
    { grant_type: 'client_credentials' },
  );
  await redeem(app, client, { code: canary('code'), verifier: VERIFIER });
  await redeem(app, client, authorization);
  await refresh(app, client, canary('refresh token'));
  await refresh(app, client, body.refresh_token);
  await requestTokens(app, client, {
    grant_type: 'client_credentials',
    client_assertion: canary('assertion'),
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  });

  // In what is refused, and in what cannot be read.
  const admin = ['Authorization', `Bearer ${ADMIN_TOKEN}`] as const;
  const tell = (method: string, path: string, text: string) =>
    send(app.url, { method, path: `/admin/api${path}`, headers: [admin, JSON_TYPE], body: text });
  await tell('POST', '/users', JSON.stringify({ username, password: canary('password of a taken name') }));
  await tell('POST', '/users', JSON.stringify({ username: '!', password: canary('password of a bad name') }));
  await tell('POST', '/users', JSON.stringify({ username: 'x', passwort: canary('unknown field') }));
  await tell('POST', '/users', `{"username":"x","password":"${canary('broken JSON')}`);
  await tell('PATCH', `/users/${id}`, JSON.stringify({ password: canary('new password') }));
  await tell(
    'PATCH',
    '/settings',
    JSON.stringify({ smtp_url: `smtps://u:${canary('mail password')}@mail.example` }),
  );
  await tell('PATCH', '/settings', JSON.stringify({ nothing_like_it: canary('unknown setting') }));
  const rotatedSecret = await tell('POST', `/clients/${client.id}/rotate-secret`, '{}');
  remember('client secret', JSON.parse(rotatedSecret.body).data.client_secret);
  const initial = await tell('POST', '/initial-access-tokens', '{"label":"Somebody"}');
  remember('initial access token', JSON.parse(initial.body).data.token);
  const registration = await send(app.url, {
    method: 'POST',
    path: '/oauth2/register',
    headers: [['Authorization', `Bearer ${JSON.parse(initial.body).data.token}`], JSON_TYPE],
    body: JSON.stringify({ redirect_uris: [REDIRECT_URI], client_secret: canary('chosen secret') }),
  });
  remember('registration token', JSON.parse(registration.body).registration_access_token);
  await browser.post('/oauth2/onboard', {
    username: 'late',
    password: canary('password'),
    csrf: canary('csrf'),
  });
  await browser.post('/oauth2/login', { ...form.hidden, csrf: canary('csrf'), password: canary('password') });
  await browser.post('/oauth2/device', { user_code: canary('user code'), xsrf: canary('xsrf') });
  await browser.authorize({
    ...honestRequest(client.id),
    id_token_hint: canary('hint'),
    request: canary('request'),
  });
  await browser.get('/oauth2/logout');
}

test(`attack: secrets in logs; ${DAYS} days of every activity, no secret in any line`, async () => {
  remember('ADMIN_TOKEN', ADMIN_TOKEN);
  for (let day = 0; day < DAYS; day += 1) await oneDay(day);
  // The last of them with the store gone: errors with everything that hangs on them.
  const client = await app.register();
  const form = await openSignIn(app, client.id);
  await app.store.close();
  await form.attempt('person-0', canary('password'));
  await refresh(app, client, canary('refresh token'));
  await send(app.url, {
    path: '/oauth2/userinfo',
    headers: [['Authorization', `Bearer ${canary('bearer')}`]],
  });

  const log = app.logged.join('');
  assert.ok(app.logged.length > DAYS * 40, `${app.logged.length} lines only`);
  assert.ok(secrets.size > DAYS * 50, `${secrets.size} secrets only`);
  const found = [...secrets].flatMap(([value, kind]) => {
    const isThere = [value, encodeURIComponent(value), Buffer.from(value).toString('base64')].some((text) =>
      log.includes(text),
    );
    return isThere ? [`${kind}: ${app.logged.find((line) => line.includes(value))?.slice(0, 600)}`] : [];
  });
  assert.deepEqual([...new Set(found)].slice(0, 5), []);
  // What is looked for could be found: names and ids are there.
  assert.ok(log.includes('request_id'));
});
