// Attack: a copy of the database (autentico audit 2026-06, Pocket ID #379). Every text in it is tried at every
// endpoint that takes a secret, with the rest of the request as the owner would send it, cookies even with a valid signature:
// then the digest protects, not the signature.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { Agent, hiddenFields, redeem, requestTokens } from '../support/agent.ts';
import { ADMIN_TOKEN, REDIRECT_URI, startApp, type TestApp } from '../support/app.ts';
import { liftLimits } from './limits.ts';
import { pooled } from './pool.ts';
import { send } from './raw-http.ts';
import { honestRequest, openSignIn, VERIFIER } from './sign-in-form.ts';
import { dumpStore, textsIn } from './store-dump.ts';

const COOKIE_KEY = 'cookie-key-of-this-test-0123456789-0123456789';
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

let app: TestApp;
let client: { id: string; secret: string };
let native: { id: string; secret: string };
let registered: { id: string; token: string };
/** What the owners hold; none of it may be in the dump. */
const owned: Record<string, string> = {};
let loot: string[];
/** Someone with cookies of their own. */
let thief: Agent;

before(async () => {
  app = await startApp({ store: 'sqlite', env: { COOKIE_KEYS: COOKIE_KEY } });
  await liftLimits(app);
  client = await app.register();
  native = await app.register({
    application_type: 'native',
    client_type: 'public',
    redirect_uris: ['http://127.0.0.1/callback'],
    grant_types: ['authorization_code', DEVICE_GRANT],
  });
  await app.createUser('alice', { role: 'admin' });
  const browser = new Agent(app);
  const authorization = await browser.signIn(client.id, { username: 'alice' });
  const { body } = await redeem(app, client, authorization);
  const cookies = new Map(
    browser
      .cookiesFor('/')
      .split('; ')
      .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)] as const),
  );
  owned.session = cookies.get('latchkey_session') ?? assert.fail();
  owned.refresh = body.refresh_token;
  owned.access = body.access_token;
  owned.secret = client.secret;

  await ownShortLived(browser);
  owned.interaction = (await openSignIn(app, client.id)).hidden.interaction ?? assert.fail();
  const waiting = await openSignIn(app, client.id);
  await waiting.attempt('alice');
  owned.resume = waiting.hidden.interaction ?? assert.fail();
  const again = await browser.signIn(client.id, { username: 'alice' });
  owned.refresh = (await redeem(app, client, again)).body.refresh_token;
  owned.session = /latchkey_session=([^;]+)/.exec(browser.cookiesFor('/'))?.[1] ?? assert.fail();

  const device = await post('/oauth2/device_authorization', { client_id: native.id, scope: 'openid' });
  owned.device = String(device.device_code);
  const page = await browser.get('/oauth2/device');
  const confirmation = await browser.post('/oauth2/device', {
    ...hiddenFields(page.body),
    user_code: String(device.user_code),
  });
  await browser.submit(confirmation, { confirm: 'yes' });

  const initial = await app.admin('POST', '/initial-access-tokens', { label: 'Somebody', uses: 100 });
  owned.initial = String(initial.body.data.token);
  const api = await app.admin('POST', '/resources', {
    identifier: 'https://api.example.com',
    name: 'Orders',
  });
  owned.introspection = String(api.body.data.introspection_client_secret);
  const answer = await send(app.url, {
    path: '/oauth2/register',
    method: 'POST',
    headers: [
      ['Authorization', `Bearer ${ADMIN_TOKEN}`],
      ['Content-Type', 'application/json'],
    ],
    body: JSON.stringify({ redirect_uris: [REDIRECT_URI] }),
  });
  const made: Record<string, string> = JSON.parse(answer.body);
  registered = { id: made.client_id ?? '', token: made.registration_access_token ?? '' };
  owned.registration = registered.token;

  thief = (await openSignIn(app, client.id)).browser;
  loot = [...textsIn(dumpStore(app))].filter((text) => text.length >= 8 && text.length <= 4000);
  assert.ok(loot.length > 200, `${loot.length} texts only`);
});
after(() => app.stop());

/** Not used yet, so that whoever finds them in the dump could; they live a minute. */
async function ownShortLived(browser: Agent): Promise<void> {
  const unused = await openSignIn(app, client.id, { prompt: 'login' }, browser);
  const end = await unused.browser.follow(await unused.attempt('alice'));
  owned.code = new URL(end.location ?? '').searchParams.get('code') ?? assert.fail();
  const { request_uri: pushed } = await post('/oauth2/par', honestRequest(client.id), client);
  owned.pushed = String(pushed).slice('urn:ietf:params:oauth:request_uri:'.length);
}

async function post(
  path: string,
  fields: Record<string, string>,
  by?: { id: string; secret: string },
): Promise<Record<string, unknown>> {
  const headers = by === undefined ? {} : { authorization: `Basic ${btoa(`${by.id}:${by.secret}`)}` };
  const response = await fetch(`${app.url}${path}`, {
    method: 'POST',
    headers,
    body: new URLSearchParams(fields),
  });
  return JSON.parse(await response.text());
}

const signed = (name: string, value: string): string => {
  const digest = createHmac('sha1', COOKIE_KEY).update(`${name}=${value}`).digest('base64url');
  return `${name}=${value}; ${name}.sig=${digest}`;
};

// A header takes no line ends, and a cookie no semicolon: what has one cannot be sent at all.
const sendable = (text: string): boolean => /^[\x21-\x3a\x3c-\x7e]+$/.test(text);

/** Where a secret opens something, and whether this one did. */
const doors: Readonly<Record<string, (text: string) => Promise<boolean>>> = {
  async 'session cookie'(text) {
    if (!sendable(text)) return false;
    const path = `/oauth2/authorize?${new URLSearchParams({ ...honestRequest(client.id), prompt: 'none' })}`;
    const { headers } = await send(app.url, {
      path,
      headers: [['Cookie', signed('latchkey_session', text)]],
    });
    return headers.location?.includes('code=') === true;
  },
  async 'resume cookie'(text) {
    if (!/^[\w-]+$/.test(text)) return false;
    const headers = [['Cookie', signed('latchkey_resume', text)]] as const;
    const answer = await send(app.url, { path: `/oauth2/authorize/${text}`, headers });
    return answer.headers.location?.includes('code=') === true;
  },
  async 'interaction of a form'(text) {
    const page = await thief.get(`/oauth2/login?interaction=${encodeURIComponent(text)}`);
    return page.status === 200;
  },
  async 'authorization code'(text) {
    return (await redeem(app, client, { code: text, verifier: VERIFIER })).status === 200;
  },
  async 'refresh token'(text) {
    const { status } = await requestTokens(app, client, { grant_type: 'refresh_token', refresh_token: text });
    return status === 200;
  },
  async 'device code'(text) {
    const { status } = await requestTokens(app, native, { grant_type: DEVICE_GRANT, device_code: text });
    return status === 200;
  },
  async 'pushed request'(text) {
    const uri = `urn:ietf:params:oauth:request_uri:${text}`;
    const query = new URLSearchParams({ client_id: client.id, request_uri: uri });
    const { body } = await send(app.url, { path: `/oauth2/authorize?${query}` });
    return body.includes('name="password"');
  },
  async bearer(text) {
    if (!sendable(text)) return false;
    const headers = [['Authorization', `Bearer ${text}`]] as const;
    const answers = await Promise.all(
      ['/oauth2/userinfo', '/admin/api/users'].map((path) => send(app.url, { path, headers })),
    );
    return answers.some(({ status }) => status === 200);
  },
  async introspection(text) {
    const body = new URLSearchParams({ token: text });
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const response = await fetch(`${app.url}/oauth2/introspect`, { method: 'POST', headers, body });
    return JSON.parse(await response.text()).active === true;
  },
  async 'client secret'(text) {
    const { body } = await requestTokens(
      app,
      { ...client, secret: text },
      { grant_type: 'refresh_token', refresh_token: 'x' },
    );
    // The client is known by then, and only its token is wrong.
    return body.error === 'invalid_grant';
  },
  async 'registration access token'(text) {
    if (!sendable(text)) return false;
    const headers = [['Authorization', `Bearer ${text}`]] as const;
    return (await send(app.url, { path: `/oauth2/register/${registered.id}`, headers })).status === 200;
  },
  async 'initial access token'(text) {
    if (!sendable(text)) return false;
    const headers = [
      ['Authorization', `Bearer ${text}`],
      ['Content-Type', 'application/json'],
    ] as const;
    const body = JSON.stringify({ redirect_uris: [REDIRECT_URI] });
    return (await send(app.url, { path: '/oauth2/register', method: 'POST', headers, body })).status === 201;
  },
};

for (const [name, tries] of Object.entries(doors)) {
  test(`attack: stolen database; none of its texts works as a ${name}`, async () => {
    const opened = await pooled(loot, 8, async (text) => ((await tries(text)) ? [text] : []));
    assert.deepEqual(opened.flat(), []);
  });
}

test('attack: stolen database; it contains no owner’s secret, not even in part', () => {
  const everything = [...textsIn(dumpStore(app))].join('\n');
  for (const [name, secret] of Object.entries(owned)) {
    assert.ok(secret.length >= 20, name);
    assert.equal(everything.includes(secret), false, `the ${name} is in the dump`);
  }
});

test('control: each endpoint accepts the genuine secret', async () => {
  await ownShortLived(new Agent(app));
  const keys: Readonly<Record<string, string | undefined>> = {
    'session cookie': owned.session,
    'pushed request': owned.pushed,
    bearer: owned.access,
    introspection: owned.access,
    'client secret': owned.secret,
    'registration access token': owned.registration,
    'initial access token': owned.initial,
    'device code': owned.device,
    'refresh token': owned.refresh,
    'authorization code': owned.code,
  };
  for (const [name, key = ''] of Object.entries(keys)) {
    assert.equal(await doors[name]?.(key), true, name);
  }
});
