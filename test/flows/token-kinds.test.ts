// An identifier of one kind never works as another (RFC 9068 §5): every artifact at every place that
// accepts one.
import { deepEqual, equal, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { Agent, codeRequest, hiddenFields, requestTokens } from '../support/agent.ts';
import { ADMIN_TOKEN, REDIRECT_URI, startApp } from '../support/app.ts';
import {
  basic,
  bearer,
  type Client,
  call,
  claimsOf,
  introspect,
  isActive,
  postForm,
  tokensOf,
  userinfo,
} from './support.ts';

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const client = await app.register({
  grant_types: ['authorization_code', 'refresh_token', 'client_credentials', DEVICE_GRANT],
  scope: 'openid profile email admin',
});
const root = await app.createUser('root', { role: 'admin' });
const agent = new Agent(app);

const authorization = codeRequest(client.id);

/** One of everything that the product gives out, each fresh and good for its own purpose. */
async function artifacts(): Promise<Record<string, string>> {
  const tokens = await tokensOf(app, client, root, { scope: 'openid admin' }, agent);
  const { code, verifier } = await agent.signIn(client.id, root);
  const own = await requestTokens(app, client, { grant_type: 'client_credentials', scope: 'admin' });
  const pushed = await postForm(app, '/oauth2/par', authorization, basic(client));
  const device = await postForm(app, '/oauth2/device_authorization', { scope: 'openid' }, basic(client));
  const iat = await app.admin('POST', '/initial-access-tokens', { label: 'x' });
  const page = await new Agent(app).authorize(authorization);
  const { interaction = '', csrf = '' } = hiddenFields(page.body);
  const cookies = agent.cookiesFor('/oauth2/authorize').split('; ');
  const cookie = cookies.find((pair) => pair.startsWith('latchkey_session='))?.split('=')[1] ?? '';
  const { body } = await app.admin('GET', `/users/${root.id}/sessions?is_active=true`);
  return {
    'access token': tokens.access_token,
    'ID token': tokens.id_token,
    'refresh token': tokens.refresh_token,
    'client token': own.body.access_token,
    code,
    verifier,
    'device code': String(device.body.device_code),
    'user code': String(device.body.user_code),
    'pushed request': String(pushed.body.request_uri).replace('urn:ietf:params:oauth:request_uri:', ''),
    'initial access token': String(iat.body.data.token),
    'session cookie': cookie,
    'session id': String(body.data.items?.[0]?.id),
    sid: String(claimsOf(tokens.id_token).sid),
    jti: String(claimsOf(tokens.access_token).jti),
    interaction,
    csrf,
    'client id': client.id,
    'client secret': client.secret,
    'user id': root.id,
    'admin token': ADMIN_TOKEN,
  };
}

const all = await artifacts();
test('artifacts: there is one of each kind', () => {
  for (const [kind, value] of Object.entries(all)) ok(value !== '' && value !== 'undefined', kind);
});

const grant = (fields: Record<string, string>, by: Client = client) => requestTokens(app, by, fields);

/** Place -> the kinds it takes, and whether it took this one. */
const places: Readonly<Record<string, readonly [readonly string[], (value: string) => Promise<boolean>]>> = {
  userinfo: [['access token'], async (value) => (await userinfo(app, value)).status === 200],
  'admin API': [
    ['access token', 'client token', 'admin token'],
    async (value) => (await call(app, 'GET', '/admin/api/users', { headers: bearer(value) })).status === 200,
  ],
  'introspection as bearer': [
    ['access token', 'client token', 'admin token'],
    async (value) => (await introspect(app, 'x', bearer(value))).status === 200,
  ],
  'introspection as token': [
    ['access token', 'client token', 'refresh token'],
    (value) => isActive(app, value),
  ],
  'introspection as secret': [
    ['client secret'],
    async (value) => (await introspect(app, 'x', basic({ id: client.id, secret: value }))).status === 200,
  ],
  registration: [
    ['access token', 'client token', 'admin token', 'initial access token'],
    async (value) => {
      const { status } = await call(app, 'POST', '/oauth2/register', {
        headers: { ...bearer(value), 'content-type': 'application/json' },
        // Wrong on purpose: who may register gets 400, so that nothing is used up.
        body: JSON.stringify({ redirect_uris: 'x' }),
      });
      return status === 400;
    },
  ],
  'registration management': [
    [],
    async (value) =>
      (await call(app, 'GET', `/oauth2/register/${client.id}`, { headers: bearer(value) })).status === 200,
  ],
  'refresh grant': [
    ['refresh token'],
    async (value) => (await grant({ grant_type: 'refresh_token', refresh_token: value })).status === 200,
  ],
  'device grant': [
    [],
    async (value) => {
      const { status, body } = await grant({ grant_type: DEVICE_GRANT, device_code: value });
      if (body.error !== 'authorization_pending') equal(body.error, 'invalid_grant');
      return status === 200;
    },
  ],
  request_uri: [
    ['pushed request'],
    async (value) => {
      const request_uri = `urn:ietf:params:oauth:request_uri:${value}`;
      const page = await new Agent(app).authorize({ client_id: client.id, request_uri });
      return page.status === 200;
    },
  ],
  'session cookie': [
    ['session cookie'],
    async (value) => {
      // Only the right one has the right signature; it is sent with every value.
      const signature = agent
        .cookiesFor('/')
        .split('; ')
        .find((pair) => pair.startsWith('latchkey_session.sig='));
      const { status } = await call(app, 'GET', `/oauth2/authorize?${new URLSearchParams(authorization)}`, {
        headers: { cookie: `latchkey_session=${encodeURIComponent(value)}; ${signature}` },
      });
      return status === 303;
    },
  ],
  id_token_hint: [
    ['ID token'],
    async (value) => {
      const page = await agent.authorize({ ...authorization, prompt: 'none', id_token_hint: value });
      return new URL(page.location ?? REDIRECT_URI).searchParams.get('error') === null && page.status === 303;
    },
  ],
  'interaction page': [
    [],
    async (value) =>
      (await agent.get(`/oauth2/login?interaction=${encodeURIComponent(value)}`)).status === 200,
  ],
  'resuming a sign-in': [
    [],
    async (value) => (await agent.get(`/oauth2/authorize/${encodeURIComponent(value)}`)).status < 400,
  ],
  'code exchange': [
    ['code'],
    async (value) => {
      const fields = { code_verifier: String(all.verifier), redirect_uri: REDIRECT_URI };
      return (await grant({ grant_type: 'authorization_code', code: value, ...fields })).status === 200;
    },
  ],
};

for (const [place, [taken, isTaken]] of Object.entries(places)) {
  test(`${place}: accepts ${taken.join(', ') || 'none of them'}`, async () => {
    const right: string[] = [];
    for (const [kind, value] of Object.entries(all)) if (await isTaken(value)) right.push(kind);
    deepEqual(right.sort(), [...taken].sort());
  });
}

test('revocation: any other kind of artifact revokes nothing', async () => {
  const { 'access token': access = '', 'refresh token': refreshing = '', ...others } = await artifacts();
  for (const [kind, token] of Object.entries(others)) {
    if (kind === 'client token') continue;
    equal((await postForm(app, '/oauth2/revoke', { token })).status, 200, kind);
  }
  equal(await isActive(app, access), true);
  equal(await isActive(app, refreshing), true);
});
