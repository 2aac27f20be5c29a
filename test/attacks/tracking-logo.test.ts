// Attacks by client metadata: a logo that makes the server send a request (CVE-2021-26715), or that reports
// viewers of the page to its owner.
// A process of its own: its requests are watched.
import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { lookup } from 'node:dns';
import { createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { bearer, call, tokensOf } from '../flows/support.ts';
import { Agent, codeRequest } from '../support/agent.ts';
import { opensAccounts, startApp } from '../support/app.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const port = Number(new URL(app.url).port);
const LOGO = 'https://spy.example:8443/pixel.png?who=you';

test('attack: tracking logo; the server fetches and resolves nothing, registration to consent', async (t) => {
  const called: string[] = [];
  const watch = (message: unknown): void => {
    const { socket } = Object(message) as { socket?: Socket };
    socket?.once('lookup', (_error, _address, _family, host) => void called.push(`lookup ${host}`));
    socket?.once('connect', () => {
      if (socket.remotePort !== port) called.push(`${socket.remoteAddress}:${socket.remotePort}`);
    });
    socket?.once('error', () => void called.push('a connection that failed'));
  };
  subscribe('net.client.socket', watch);
  t.after(() => unsubscribe('net.client.socket', watch));

  const uris = { logo_uri: LOGO, policy_uri: 'https://spy.example/p', tos_uri: 'https://spy.example/t' };
  const client = await app.register({ ...uris, client_uri: 'https://spy.example', skip_consent: false });
  const own = await app.register(opensAccounts);
  const alice = await app.createUser('alice');
  const agent = new Agent(app);
  const asked = await agent.authorize({ ...codeRequest(client.id), scope: 'openid profile' });
  const consent = await agent.submit(asked, { username: 'alice', password: 'correct horse battery staple' });
  match(consent.body, /\/oauth2\/consent/);
  await agent.submit(consent, { action: 'allow' });
  const { access_token: token } = await tokensOf(app, own, alice, { scope: 'openid account' }, agent);
  await call(app, 'GET', '/account/api/applications', { headers: bearer(token) });
  await agent.follow(await agent.get('/account'));
  await app.admin('GET', `/clients/${client.id}`);
  await app.app.jobs.tick();
  deepEqual(called, []);

  // Nor does a browser: no page has it, and none would be let load it.
  const pages = [consent, await agent.get('/account'), await agent.get('/account/applications')];
  for (const page of pages) doesNotMatch(page.body, /pixel\.png/);
  const policy = consent.headers.get('content-security-policy') ?? '';
  match(policy, /img-src 'self' data:;/);
  for (const directive of policy.split(';').filter((part) => !/^\s*form-action/.test(part)))
    doesNotMatch(directive, /https:|\*/, directive);
  doesNotMatch(consent.body, /\/(?:proxy|image)\?/);

  // The watch itself: a call to elsewhere is seen.
  const canary = createServer().listen(0, '127.0.0.1');
  t.after(() => canary.close());
  await new Promise((resolve) => canary.once('listening', resolve));
  const address = canary.address();
  ok(typeof address === 'object' && address !== null && typeof lookup === 'function');
  await fetch(`http://127.0.0.1:${address.port}`, { signal: AbortSignal.timeout(200) }).catch(
    () => undefined,
  );
  ok(called.length > 0, 'the watch sees nothing');
});

test('attack: logo addresses that are no public https image are refused', async () => {
  for (const logo_uri of [
    'http://spy.example/x.png',
    'javascript:alert(1)',
    'data:image/svg+xml,<svg onload=alert(1)>',
    'file:///etc/passwd',
    '//spy.example/x.png',
  ]) {
    const { status, body } = await app.admin('POST', '/clients', {
      client_name: 'Spy',
      redirect_uris: ['https://spy.example/cb'],
      logo_uri,
    });
    equal(status, 400, logo_uri);
    ok(body.error?.fields?.logo_uri !== undefined, logo_uri);
  }
});
