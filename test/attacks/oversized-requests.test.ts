// Attack: large or deeply nested authorization requests at every endpoint that stores or walks them:
// refused by a page or an error of this server, never by a redirect, a stack overflow or 54 kB in the store.
import { deepEqual, equal, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import type { CollectionDefinition, EphemeralCollection, Store } from '../../src/store/port.ts';
import { call, postForm } from '../flows/support.ts';
import { Agent, codeRequest } from '../support/agent.ts';
import { REDIRECT_URI, startApp } from '../support/app.ts';
import { send } from './raw-http.ts';

/** Of what is written for a request, the largest in bytes. */
let largest = 0;
const WATCHED = new Set(['interactions', 'device_codes']);

function watched(store: Store): Store {
  return {
    ...store,
    ephemeral<T>(definition: CollectionDefinition<T>): EphemeralCollection<T> {
      const collection = store.ephemeral(definition);
      if (!WATCHED.has(definition.name)) return collection;
      return {
        ...collection,
        put(id, value, options) {
          largest = Math.max(largest, Buffer.byteLength(JSON.stringify(value)));
          return collection.put(id, value, options);
        },
      };
    },
  };
}

const app = await startApp({ shared: watched(createMemoryStore({ clock: Date.now })) });
after(() => app.stop());
const client = await app.register();
const open = await app.register({
  client_name: 'Television',
  application_type: 'native',
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
  redirect_uris: [REDIRECT_URI],
});
const request = codeRequest(open.id);
const user = await app.createUser('alice');

type Fields = Record<string, string>;
/** Every door, with what else it wants. @returns status, where it leads, and the body */
const doors: Readonly<
  Record<string, (fields: Fields) => Promise<{ status: number; location: string | null; text: string }>>
> = {
  async GET(fields) {
    const path = `/oauth2/authorize?${new URLSearchParams({ ...request, ...fields })}`;
    const { status, headers, text } = await call(app, 'GET', path, { headers: { accept: 'text/html' } });
    return { status, location: headers.get('location'), text };
  },
  async POST(fields) {
    const answer = await postForm(
      app,
      '/oauth2/authorize',
      { ...request, ...fields },
      { accept: 'text/html' },
    );
    return { ...answer, location: answer.headers.get('location') };
  },
  async alias(fields) {
    const path = '/realms/any/protocol/openid-connect/auth';
    const answer = await postForm(app, path, { ...request, ...fields }, { accept: 'text/html' });
    return { ...answer, location: answer.headers.get('location') };
  },
  async PAR(fields) {
    const answer = await postForm(app, '/oauth2/par', { ...request, ...fields });
    return { ...answer, location: answer.headers.get('location') };
  },
  async device(fields) {
    const own = { client_id: open.id, scope: 'openid' };
    const answer = await postForm(app, '/oauth2/device_authorization', { ...own, ...fields });
    return { ...answer, location: answer.headers.get('location') };
  },
};

async function expectRefused(fields: Fields, names: readonly string[], what: string): Promise<void> {
  for (const name of names) {
    const answer = await doors[name]?.(fields);
    ok(answer);
    // An address of more than 24 kB does not reach the endpoint at all.
    const status = name === 'GET' && answer.status === 414 ? 414 : 400;
    deepEqual(
      [answer.status, answer.location],
      [status, null],
      `${what} by ${name}: ${answer.text.slice(0, 300)}`,
    );
    ok(!answer.text.includes('name="password"'), what);
  }
}

test('attack: state over 4,096 or nonce over 2,048 bytes is a 400 page, no redirect (R021)', async () => {
  const browserDoors = ['GET', 'POST', 'alias', 'PAR'];
  for (const state of ['s'.repeat(4097), 'é'.repeat(2049)])
    await expectRefused({ state }, browserDoors, 'state');
  await expectRefused({ state: 's'.repeat(4097), prompt: 'none' }, browserDoors, 'state, without a page');
  for (const nonce of ['n'.repeat(2049), '日'.repeat(683)]) {
    await expectRefused({ nonce }, [...browserDoors, 'device'], 'nonce');
  }
});

test('authorization request: long state and nonce return byte for byte (R021)', async () => {
  const agent = new Agent(app);
  const [state, nonce] = ['ä'.repeat(2048), 'n'.repeat(2048)];
  let page = await agent.post('/oauth2/authorize', { ...codeRequest(client.id), state, nonce });
  page = await agent.submit(page, { username: user.username, password: 'correct horse battery staple' });
  equal(new URL(page.location ?? '').searchParams.get('state'), state);
});

test('attack: 54 kB in any parameter; at most 8 KiB per request are stored', async () => {
  const long = 'x'.repeat(50_000);
  const everywhere = ['POST', 'alias', 'PAR'];
  for (const name of [
    'state',
    'nonce',
    'login_hint',
    'ui_locales',
    'acr_values',
    'claims_locales',
    'scope',
    'display',
  ]) {
    await expectRefused({ [name]: long }, everywhere, name);
  }
  for (const name of ['login_hint', 'scope', 'acr_values', 'ui_locales'])
    await expectRefused({ [name]: long }, ['device'], name);
  // Many short ones are as long as a long one, and escaping does not make room.
  const parts = { state: 's'.repeat(4000), nonce: 'n'.repeat(2000), login_hint: 'l'.repeat(2000) };
  await expectRefused(parts, everywhere, 'the sum');
  await expectRefused({ state: '\u0001'.repeat(4000) }, everywhere, 'escapes');
  for (const state of ['s'.repeat(4096), '"'.repeat(3000)]) {
    await doors.POST?.({ state, nonce: 'n'.repeat(state.startsWith('s') ? 2048 : 100) });
    await doors.device?.({ nonce: 'n'.repeat(2048), login_hint: 'l'.repeat(4000) });
  }
  ok(largest > 6000 && largest <= 8192, String(largest));
});

const nested = (depth: number): string =>
  '{"id_token":'.concat('{"a":'.repeat(depth), '1', '}'.repeat(depth), '}');
const lists = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const jwt = (payload: string): string =>
  [Buffer.from('{"alg":"RS256"}'), Buffer.from(payload), Buffer.from('x')]
    .map((part) => part.toString('base64url'))
    .join('.');

test('attack: claims nested 6,000 deep are 400 at every endpoint', async () => {
  for (const claims of [nested(1200), `{"id_token":${lists(3400)}}`]) {
    await expectRefused({ claims }, ['POST', 'alias', 'PAR', 'device'], 'nested claims');
  }
  // 6,000 levels in a query that fits: brackets need no escape on the wire.
  const claims = lists(3400);
  const path = `/oauth2/authorize?${new URLSearchParams(request)}&claims=${claims}`;
  equal((await send(app.url, { path })).status, 400);
  await expectRefused({ claims: nested(40) }, Object.keys(doors), 'a little too deep');
  const shallow = await doors.POST?.({ claims: '{"id_token":{"auth_time":{"essential":true}}}' });
  equal(shallow?.status, 200);
});

test('attack: a JWT with an endlessly nested payload is 400 at every endpoint', async () => {
  const hint = jwt(lists(1500));
  await expectRefused({ id_token_hint: hint }, ['POST', 'alias', 'PAR', 'device'], 'id_token_hint');
  const path = `/oauth2/logout?id_token_hint=${hint}`;
  const { status, text } = await call(app, 'GET', path, { headers: { accept: 'text/html' } });
  ok(status < 500, text);
  for (const endpoint of ['/oauth2/token', '/oauth2/par', '/oauth2/introspect', '/oauth2/revoke']) {
    const answer = await postForm(app, endpoint, {
      client_id: client.id,
      token: jwt(lists(6000)),
      grant_type: 'client_credentials',
      client_assertion: jwt(lists(6000)),
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    });
    ok(answer.status >= 200 && answer.status < 500, `${endpoint}: ${answer.status} ${answer.text}`);
  }
});

test('attack: other spellings of a path bypass the size checks', async () => {
  for (const path of ['/oauth2/PAR', '/oauth2/par/', '/oauth2/Par', '/oauth2//par', '/oauth2/%70ar']) {
    const { status } = await postForm(app, path, { ...request, state: 's'.repeat(20_000) });
    equal(status, 404, path);
  }
  for (const path of [
    '/oauth2/LOGOUT',
    '/oauth2/logout/',
    '/oauth2/Authorize',
    '/oauth2/INTROSPECT',
    '/oauth2/token/',
  ]) {
    const answers = await Promise.all([call(app, 'GET', path), postForm(app, path, { token: 'x' })]);
    for (const { status } of answers) ok(status === 404 || status === 405, `${path}: ${status}`);
  }
});
