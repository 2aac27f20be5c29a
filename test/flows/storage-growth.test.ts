// Attack: starting sign-ins without finishing them fills no store. Unfinished ones are limited per network
// over all processes; the oldest idle one makes room, otherwise that network waits.
import { deepEqual, equal, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { interactions } from '../../src/store/protocol-collections.ts';
import { Agent, codeRequest, type Page } from '../support/agent.ts';
import { REDIRECT_URI, SECRET_KEY, startApp, type TestApp } from '../support/app.ts';
import { postForm } from './support.ts';

const LIMIT = 25;
const MINUTE = 60_000;

const env = { TRUST_PROXY: '1', SECRET_KEY };
const first = await startApp({ store: 'sqlite', env });
after(() => first.stop());
const second = await startApp({ shared: first.store, env });
after(() => second.stop());
const apps = [first, second];
for (const each of apps)
  await each.app.settings.patch({ limit_open_signins_ip: LIMIT, limit_public_requests_ip: 10 }, 'test');
const client = await first.register();
await first.createUser('alice');

const from = (address: string) => ({ headers: { 'x-forwarded-for': address, accept: 'text/html' } });
const begin = (address: string, app: TestApp = first, agent = new Agent(app)): Promise<Page> =>
  agent.get(`/oauth2/authorize?${new URLSearchParams(codeRequest(client.id))}`, from(address));
const open = (network: string) => first.store.ephemeral(interactions).findBy('network', network);

function advance(ms: number): void {
  for (const each of apps) each.advance(ms);
}

async function fill(address: string): Promise<void> {
  for (let count = 0; count < LIMIT; count += 1) {
    const { status, body } = await begin(address, apps[count % 2]);
    equal(status, 200, `${count}: ${body}`);
  }
}

test('attack: filling the store; open sign-ins per network are limited over two processes', async () => {
  await fill('192.0.2.1');
  for (const app of apps) {
    const page = await begin('192.0.2.1', app);
    deepEqual([page.status, page.location], [429, undefined]);
    ok(Number(page.headers.get('retry-after')) > 0);
  }
  equal((await open('192.0.2.1')).length, LIMIT);
  equal((await begin('192.0.2.2')).status, 200);
});

test('unfinished sign-ins: hosts of one IPv6 /64 share a limit', async () => {
  for (let count = 0; count < LIMIT; count += 1) equal((await begin(`2001:db8::${count + 1}`)).status, 200);
  equal((await begin('2001:db8::ffff')).status, 429);
  equal((await begin('2001:db8:0:1::1')).status, 200);
});

test('unfinished sign-ins: after ten minutes idle ones make room, ones with a form stay', async () => {
  const address = '192.0.2.3';
  const tried = new Agent(first);
  const form = await begin(address, first, tried);
  const wrong = await tried.submit(form, { username: 'alice', password: 'wrong' });
  ok(wrong.body.includes('name="password"'));
  advance(MINUTE);
  const oldest = new Agent(first);
  const idle = await begin(address, first, oldest);
  advance(MINUTE);
  for (let count = 0; count < LIMIT - 2; count += 1) equal((await begin(address)).status, 200);
  equal((await begin(address)).status, 429);
  // Seen from the machine's clock, which the protocol core keeps, all of them began just now.
  advance(10 * MINUTE + 1000);
  equal((await begin(address)).status, 200);
  equal((await open(address)).length, LIMIT);
  const gone = await oldest.submit(idle, { username: 'alice', password: 'wrong' });
  ok(!gone.body.includes('name="password"'), 'the oldest idle one is gone');
  const again = await tried.submit(wrong, { username: 'alice', password: 'correct horse battery staple' });
  ok(new URL(again.location ?? '').searchParams.has('code'), again.body);
});

test('unfinished sign-ins: finished ones free their places at once', async () => {
  const address = '192.0.2.4';
  for (let count = 0; count < LIMIT + 5; count += 1) {
    const agent = new Agent(first);
    const page = await begin(address, first, agent);
    equal(page.status, 200);
    const fields = { username: 'alice', password: 'correct horse battery staple' };
    ok((await agent.submit(page, fields)).location?.startsWith(REDIRECT_URI));
  }
});

test('pushed and device requests: limited for public clients, not for confidential ones', async () => {
  const open = await first.register({
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
  });
  const headers = { 'x-forwarded-for': '192.0.2.9' };
  const statuses = new Set<number>();
  for (let count = 0; count < 5; count += 1) {
    statuses.add((await postForm(first, '/oauth2/par', codeRequest(open.id), headers)).status);
    const device = { client_id: open.id, scope: 'openid' };
    statuses.add((await postForm(second, '/oauth2/device_authorization', device, headers)).status);
  }
  deepEqual([...statuses].toSorted(), [200, 201]);
  const { status, body } = await postForm(first, '/oauth2/par', codeRequest(open.id), headers);
  deepEqual([status, body.error], [429, 'temporarily_unavailable']);
  const own = { ...codeRequest(client.id), client_secret: client.secret };
  const confidential = await first.register({ token_endpoint_auth_method: 'client_secret_post' });
  const pushed = { ...own, ...codeRequest(confidential.id), client_secret: confidential.secret };
  equal((await postForm(first, '/oauth2/par', pushed, headers)).status, 201);
});
