// One log line per refusal, with what a developer needs to set up an application: error, reason, client, address compared.
import { deepEqual, equal, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { Agent, codeRequest } from '../support/agent.ts';
import { REDIRECT_URI, startApp } from '../support/app.ts';
import { basic, bearer, call, type Json, postForm } from './support.ts';

const CANARY = 'canary-that-no-log-may-hold';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const client = await app.register();

async function refusalOf(act: () => Promise<{ headers: Headers }>): Promise<Json> {
  const { headers } = await act();
  const id = headers.get('x-request-id') ?? '';
  const lines = app.logged.filter((line) => line.includes(id) && line.includes('"event":"refused"'));
  const parsed: Json[] = lines.map((line) => JSON.parse(line));
  equal(lines.join().includes(CANARY), false);
  ok(parsed.length >= 1, `no line for ${id}`);
  return parsed.at(-1) ?? {};
}
const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  refusalOf(() => postForm(app, `/oauth2${path}`, fields, headers));
const facts = ({ endpoint, error, reason, client_id }: Json): unknown[] => [
  endpoint,
  error,
  reason,
  client_id,
];

test('refusals: the log names endpoint, error, reason and client', async () => {
  const code = { grant_type: 'authorization_code', code: CANARY, redirect_uri: REDIRECT_URI };
  deepEqual(facts(await post('/token', code, basic(client))), [
    'token',
    'invalid_grant',
    'authorization code not found',
    client.id,
  ]);
  const wrong = basic({ id: client.id, secret: CANARY });
  deepEqual(facts(await post('/token', code, wrong)), [
    'token',
    'invalid_client',
    'invalid secret provided',
    client.id,
  ]);
  deepEqual(facts(await post('/token', { ...code, client_id: 'nobody' })), [
    'token',
    'invalid_client',
    'client not found',
    'nobody',
  ]);
  deepEqual(facts(await post('/introspect', { token: CANARY }, wrong)).slice(0, 3), [
    'introspection',
    'invalid_client',
    'invalid secret provided',
  ]);
  const info = await refusalOf(() => call(app, 'GET', '/oauth2/userinfo', { headers: bearer(CANARY) }));
  deepEqual([info.endpoint, info.error], ['userinfo', 'invalid_token']);
});

test('refusals: a redirect URI that is not registered is logged beside those that are', async () => {
  const address = `https://rp.example/callbak?code=${CANARY}`;
  const line = await refusalOf(() =>
    new Agent(app).authorize({ ...codeRequest(client.id), redirect_uri: address, state: CANARY }),
  );
  deepEqual(facts(line).slice(0, 2), ['authorization', 'invalid_redirect_uri']);
  deepEqual(
    [line.client_id, line.redirect_uri, line.registered],
    [client.id, 'https://rp.example/callbak?…', [REDIRECT_URI]],
  );
});

test('refusals: a device that polls is none', async () => {
  const device = await app.register({
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    grant_types: ['urn:ietf:params:oauth:grant-type:device_code'],
    response_types: [],
    redirect_uris: [],
  });
  const started = await postForm(app, '/oauth2/device_authorization', {
    client_id: device.id,
    scope: 'openid',
  });
  const { headers } = await postForm(app, '/oauth2/token', {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code: String(started.body.device_code),
    client_id: device.id,
  });
  const id = headers.get('x-request-id') ?? '';
  equal(
    app.logged.some((line) => line.includes(id) && line.includes('"refused"')),
    false,
  );
});
