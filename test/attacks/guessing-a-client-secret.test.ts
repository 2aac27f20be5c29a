// Attack: guessing client secrets at every endpoint that authenticates clients: counted per client and
// network, without locking out the holder of the secret. Requests of the device page, each of which stores a session, are
// limited like other requests that need no credential.
import { deepEqual, equal } from 'node:assert/strict';
import test, { after } from 'node:test';
import { call, postForm, requestTokensOf } from '../flows/support.ts';
import { startApp } from '../support/app.ts';

const app = await startApp({ store: 'sqlite', env: { TRUST_PROXY: '1' } });
after(() => app.stop());
await app.app.settings.patch({ limit_client_failures_ip: 5, limit_public_requests_ip: 5 }, 'test');
const machine = {
  token_endpoint_auth_method: 'client_secret_post',
  grant_types: ['client_credentials'],
  redirect_uris: [],
};
const [client, other] = [await app.register(machine), await app.register(machine)];

const guess = (path: string, clientId = client.id, address = '192.0.2.1') =>
  postForm(
    app,
    path,
    {
      client_id: clientId,
      client_secret: 'guess',
      grant_type: 'client_credentials',
      token: 'x',
      scope: 'openid',
    },
    { 'x-forwarded-for': address },
  );

test('attack: guessing client secrets; one limit per address over all endpoints (R039)', async () => {
  const paths = ['/token', '/introspect', '/revoke', '/par', '/device_authorization'].map(
    (path) => `/oauth2${path}`,
  );
  for (const path of paths) {
    const { status, body } = await guess(path);
    deepEqual([status, body.error], [401, 'invalid_client'], path);
  }
  for (const path of paths) {
    const { status, headers, body } = await guess(path);
    deepEqual([status, body.error], [429, 'temporarily_unavailable'], path);
    equal(Number(headers.get('retry-after')) > 0, true);
  }
  equal((await guess('/oauth2/token', other.id)).status, 401, 'another application');
  equal((await guess('/oauth2/token', client.id, '192.0.2.2')).status, 401, 'another address');
  const headers = { 'x-forwarded-for': '192.0.2.1' };
  const right = { client_id: client.id, client_secret: client.secret, grant_type: 'client_credentials' };
  equal((await postForm(app, '/oauth2/token', right, headers)).status, 200);
  await requestTokensOf(
    app,
    await app.register({ ...machine, token_endpoint_auth_method: 'client_secret_basic' }),
    {
      grant_type: 'client_credentials',
    },
  );
});

test('attack: guessing client secrets as a browser; errors as pages would not be counted', async () => {
  const accept = { accept: 'text/html', 'x-forwarded-for': '192.0.2.3' };
  const fields = { client_id: client.id, client_secret: 'guess', grant_type: 'client_credentials' };
  for (const expected of [401, 401, 401, 401, 401, 429])
    equal((await postForm(app, '/oauth2/token', fields, accept)).status, expected);
});

test('attack: a stranger without cookies fills the store through the device page', async () => {
  const statuses: number[] = [];
  const headers = { 'x-forwarded-for': '192.0.2.7', accept: 'text/html' };
  for (let count = 0; count < 6; count += 1)
    statuses.push((await call(app, 'GET', '/oauth2/device', { headers })).status);
  deepEqual(statuses, [200, 200, 200, 200, 200, 429]);
});
