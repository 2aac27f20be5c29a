// Attack (decision 0026): open registration used to fill the store with clients, or to send browsers from here to a site of the
// attacker's choice (RFC 9700 §4.11.2).
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { createQuarantined } from '../../src/clients/quarantined.ts';
import { clients as clientCollection } from '../../src/store/collections.ts';
import { call, change, type Json, withApp } from '../flows/support.ts';
import { Agent, codeRequest } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
await app.createUser('alice');
await change(app, { agents: true });
const EVIL = 'https://evil.example/phish';

const register = async (to: TestApp, members: Json = {}) =>
  call(to, 'POST', '/oauth2/register', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'A', redirect_uris: [EVIL], ...members }),
  });

test('attack: open registration as spam is limited by address', async () => {
  await withApp({}, async (own) => {
    await change(own, { agents: true, limit_agents_ip: 3 });
    const answers: number[] = [];
    for (let at = 0; at < 5; at += 1) answers.push((await register(own)).status);
    deepEqual(answers, [201, 201, 201, 429, 429]);
  });
});

test('attack: open registration as spam pushes out only agents never used', async () => {
  await withApp({}, async (own) => {
    await change(own, { agents: true });
    const ids: string[] = [];
    for (let at = 0; at < 4; at += 1) {
      own.advance(1000);
      ids.push(String((await register(own)).body.client_id));
    }
    const collection = own.store.collection(clientCollection);
    const { clients } = own.app;
    const bounded = createQuarantined({ collection, clients, clock: own.now, limit: 4 });
    await bounded.noteUse(ids[0] ?? '');
    await bounded.makeRoom();
    const left = await Promise.all(ids.map(async (id) => (await clients.find(id)) !== undefined));
    deepEqual(left, [true, false, true, true]);
  });
});

/** What makes an authorization endpoint answer the application at once. */
const AUTOMATIC: readonly (readonly [string, Record<string, string>])[] = [
  ['prompt=none', { prompt: 'none' }],
  ['prompt=none as a form', { prompt: 'none', response_mode: 'form_post' }],
  ['prompt=none in a fragment', { prompt: 'none', response_mode: 'fragment' }],
  ['a scope it may not have', { scope: 'admin' }],
  ['no response type', { response_type: 'token' }],
  ['no PKCE', { code_challenge: '' }],
  ['an unknown resource', { resource: 'https://api.example/' }],
  ['an unmet acr', { claims: '{"id_token":{"acr":{"essential":true,"value":"none-such"}}}', prompt: 'none' }],
  ['a request object', { request: 'x.y.z' }],
  ['a bad max_age', { max_age: '-1' }],
];

test('attack: open registration as open redirector, by every error there is', async () => {
  const id = String((await register(app)).body.client_id);
  const signedIn = new Agent(app);
  await signedIn.signIn((await app.register()).id, { username: 'alice' });
  for (const [name, parameters] of AUTOMATIC) {
    for (const agent of [new Agent(app), signedIn]) {
      const page = await agent.authorize({ ...codeRequest(id), redirect_uri: EVIL, ...parameters });
      equal(page.location?.startsWith('https://evil') ?? false, false, `${name}: ${page.location}`);
      equal(page.body.includes(`action="${EVIL}"`), false, name);
      ok(page.status >= 400, `${name}: ${page.status} ${page.location} ${page.body.slice(0, 300)}`);
    }
  }
});

test('open registration: a user who agreed once, or answers no, is sent back', async () => {
  const id = String((await register(app)).body.client_id);
  const agent = new Agent(app);
  const request = { ...codeRequest(id), redirect_uri: EVIL };
  const page = await agent.submit(await agent.authorize(request), { username: 'alice', password: PASSWORD });
  match(
    (await agent.submit(page, { action: 'deny' })).location ?? '',
    /^https:\/\/evil\.example.*access_denied/,
  );
  const silent = await agent.authorize({ ...request, prompt: 'none' });
  equal(silent.location, undefined, 'a no is no consent');
  await agent.submit(await agent.authorize(request), { action: 'allow' });
  match((await agent.authorize({ ...request, prompt: 'none' })).location ?? '', /code=/);
  const wider = { ...request, prompt: 'none', scope: 'openid email' };
  match((await agent.authorize(wider)).location ?? '', /consent_required/);
});
