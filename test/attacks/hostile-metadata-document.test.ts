// Attack (decision 0026; draft-ietf-oauth-client-id-metadata-document §6): a metadata document by a hostile server: to reach what is
// inside, to exhaust this server, to look like another application, or to become another after a person agreed.
// A process of its own: its requests are led elsewhere.
import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import test, { after } from 'node:test';
import { change, type Json, postForm, userinfo } from '../flows/support.ts';
import { Agent, codeRequest, type Page } from '../support/agent.ts';
import { PASSWORD, SECRET_KEY, startApp } from '../support/app.ts';
import { openPublicWeb } from '../support/public-web.ts';

/** What each address answers: members of a document, or a handler. */
const sites = new Map<string, Json | RequestListener>();
const web = await openPublicWeb((request, response) => {
  const site = sites.get(`https://${request.headers.host}${request.url}`.replace(/:\d+/, ''));
  if (typeof site === 'function') return site(request, response);
  if (site === undefined) return void response.writeHead(404).end();
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(site));
});
const app = await startApp({ store: 'sqlite', env: { SECRET_KEY } });
after(async () => {
  await app.stop();
  await web.close();
});
await app.createUser('alice');
await app.register({ client_name: 'Payroll' });
await change(app, { agents: true });

let count = 0;
/** A document at an address of its own. */
function publish(members: Json = {}, host = 'agent.test'): string {
  count += 1;
  const id = `https://${host}/client-${count}.json`;
  sites.set(id, {
    client_id: id,
    client_name: `Agent ${count}`,
    redirect_uris: [`https://${host}/cb`],
    ...members,
  });
  return id;
}

const signedIn = new Agent(app);
await signedIn.signIn((await app.register()).id, { username: 'alice' });
const ask = (id: string, agent = signedIn, more: Record<string, string> = {}): Promise<Page> =>
  agent.authorize({ ...codeRequest(id), redirect_uri: `${new URL(id).origin}/cb`, ...more });
/** A long address may break between its parts. */
const titled = (body: string): string => body.replaceAll('<wbr>', '');
const CONSENT = /action="\/oauth2\/consent"/;
const visits = (host = 'agent.test'): number => web.visits.get(host) ?? 0;

/** An error page, and no client afterwards. */
async function isRefused(id: string, why: RegExp): Promise<void> {
  const page = await ask(id);
  equal(page.status, 400, `${id}: ${page.location} ${page.body.slice(0, 200)}`);
  equal(page.location, undefined);
  match(page.body, why);
  equal((await app.admin('GET', `/clients/${encodeURIComponent(id)}`)).status, 404);
}

test('metadata document: fetched for a signed-in user, consent names it, tokens come', async () => {
  const id = publish({ scope: 'openid profile roles admin', logo_uri: 'https://agent.test/logo.png' });
  const agent = new Agent(app);
  const before = visits();
  const door = await ask(id, agent);
  match(door.location ?? '', /\/oauth2\/authorize\?client_id=/);
  equal(visits(), before, 'nothing is fetched for strangers');
  const signIn = await agent.follow(door);
  match(signIn.body, /name="password"/);
  const consent = await agent.submit(signIn, { username: 'alice', password: PASSWORD });
  equal(visits(), before + 1);
  match(consent.body, CONSENT);
  doesNotMatch(consent.body, /logo\.png/);
  match(
    titled(consent.body),
    /<h1[^>]*>[\s\S]*agent\.test\/client-\d+\.json[\s\S]*<\/h1>/,
    'the address is the title',
  );
  match(consent.body, /Only the address above has been verified\. It calls itself [\s\S]*Agent 1/);
  const done = await agent.submit(consent, { action: 'allow' });
  const code = new URL(done.location ?? '').searchParams.get('code') ?? '';
  const tokens = await postForm(app, '/oauth2/token', {
    grant_type: 'authorization_code',
    client_id: id,
    redirect_uri: 'https://agent.test/cb',
    code,
    code_verifier: 'v'.repeat(43),
  });
  equal(tokens.status, 200, tokens.text);
  equal((await userinfo(app, String(tokens.body.access_token))).status, 200);
  equal((await ask(id, agent)).location?.includes('code='), true, 'remembered');
  equal(visits(), before + 1, 'the snapshot is the client');
  const shown = await app.admin('GET', `/clients/${encodeURIComponent(id)}`);
  equal(shown.status, 200, JSON.stringify(shown.body));
  deepEqual([shown.body.data.quarantine, shown.body.data.scope], ['document', 'openid profile']);
  match(String((await agent.get('/account')).body), /agent\.test\/client-1\.json[\s\S]*Unverified agent/);
});

test('metadata document: with a loopback address any port is taken, and the page warns', async () => {
  const id = publish({ redirect_uris: ['http://localhost/cb', 'https://agent.test/cb'] });
  const page = await ask(id, signedIn, { redirect_uri: 'http://localhost:40123/cb' });
  match(page.body, /goes to a program on your device/);
  const done = await signedIn.submit(page, { action: 'allow' });
  equal(done.location?.startsWith('http://localhost:40123/cb?'), true, done.location);
  doesNotMatch((await ask(publish())).body, /goes to a program on your device/);
});

test('metadata document: host in punycode on the consent page', async () => {
  const id = publish({}, 'xn--pypal-4ve.test');
  const page = await ask(id);
  match(titled(page.body), /<h1[^>]*>[\s\S]*xn--pypal-4ve\.test\/client/);
});

test('metadata document: agents off, prompt=none without a session and PAR fetch nothing', async () => {
  const id = publish();
  const before = visits();
  equal((await ask(id, new Agent(app), { prompt: 'none' })).status, 400);
  const pushed = await postForm(app, '/oauth2/par', {
    ...codeRequest(id),
    redirect_uri: 'https://agent.test/cb',
  });
  equal(pushed.body.error, 'invalid_client');
  await change(app, { agents: false });
  equal((await ask(id)).status, 400);
  await change(app, { agents: true });
  equal(visits(), before);
});

test('attack: metadata document that redirects, lies about its type, is huge, slow or broken', async () => {
  const answer = (status: number, headers: Record<string, string>, body: string): string => {
    const id = publish();
    sites.set(id, (_, response) => void response.writeHead(status, headers).end(body));
    return id;
  };
  const json = { 'content-type': 'application/json' };
  const good = publish();
  await isRefused(answer(302, { location: good }, ''), /status 302/);
  await isRefused(answer(200, { 'content-type': 'text/html' }, '{}'), /could not be fetched/);
  await isRefused(answer(200, { 'content-type': 'application/problem+json' }, '{}'), /not application\/json/);
  await isRefused(answer(200, json, 'x'.repeat(10_000_000)), /could not be fetched/);
  await isRefused(answer(200, json, JSON.stringify({ padding: 'x'.repeat(20_000) })), /longer than 16 kB/);
  await isRefused(answer(200, json, '[]'), /not a JSON object/);
  await isRefused(answer(200, json, '{"a":'), /not a JSON object|could not be fetched/);
  await isRefused(answer(404, json, '{}'), /status 404/);
  const slow = publish();
  sites.set(slow, (_, response) => void response.writeHead(200, json).write('{'));
  await isRefused(slow, /could not be fetched/);
});

test('attack: metadata document inside, on another port or under another spelling', async () => {
  for (const [host, address] of [
    ['inside.test', '10.0.0.5'],
    ['loopback.test', '127.0.0.1'],
    ['cloud.test', '169.254.169.254'],
    ['six.test', 'fd00::1'],
  ] as const) {
    web.addresses.set(host, address);
    await isRefused(publish({}, host), /could not be fetched/);
    equal(web.visits.get(host), undefined, host);
  }
  const before = visits();
  for (const id of [
    'http://agent.test/client.json',
    'https://agent.test:8443/client.json',
    'https://agent.test/',
    'https://agent.test/client.json?x=1',
    'https://agent.test/client.json#x',
    'https://user@agent.test/client.json',
    'https://agent.test/a/../client.json',
    'https://agent.test/%63lient.json',
    'https://AGENT.test/client.json',
    'https://agent.test./client.json',
    'https://127.0.0.1/client.json',
    'https://localhost/client.json',
    `https://agent.test/${'x'.repeat(200)}`,
  ]) {
    equal((await ask(id)).status, 400, id);
  }
  equal(visits(), before);
});

test('attack: metadata document that squats names, ids and addresses', async () => {
  await isRefused(publish({ client_name: 'Payroll' }), /another application/);
  await isRefused(publish({ client_name: 'PаyrоII' }), /another application/);
  await isRefused(publish({ client_name: 'Latchkey Support' }), /one of this server/);
  await isRefused(publish({ client_id: 'https://other.test/client.json' }), /client_id is not the address/);
  await isRefused(publish({ redirect_uris: ['https://evil.test/cb'] }), /redirect URI/);
  await isRefused(
    publish({ redirect_uris: ['https://agent.test/cb', 'com.example.app:/cb'] }),
    /redirect URI/,
  );
  await isRefused(publish({ redirect_uris: ['http://agent.test/cb'] }), /redirect URI/);
  await isRefused(publish({ redirect_uris: [] }), /redirect_uris/);
  await isRefused(publish({ client_secret: 'x' }), /secret/);
  await isRefused(publish({ token_endpoint_auth_method: 'private_key_jwt' }), /none is accepted/);
  await isRefused(publish({ client_name: 'a\nb' }), /client_name/);
  const identifier = publish();
  const api = await app.admin('POST', '/resources', { identifier, name: 'An API' });
  equal(api.status, 201, JSON.stringify(api.body));
  await isRefused(identifier, /identifier of an API/);
});

test('attack: metadata document that changes after consent ends its grants and is asked anew', async () => {
  const id = publish({ client_name: 'Harmless' });
  const first = await ask(id);
  await signedIn.submit(first, { action: 'allow' });
  const granted = await ask(id);
  ok(granted.location?.includes('code='));
  sites.set(id, {
    client_id: id,
    client_name: 'Other',
    redirect_uris: ['https://agent.test/cb', 'https://agent.test/other'],
  });
  app.advance(3_600_001);
  const anew = await ask(id);
  match(anew.body, CONSENT);
  match(anew.body, /Other/);
  const late = await postForm(app, '/oauth2/token', {
    grant_type: 'authorization_code',
    client_id: id,
    redirect_uri: 'https://agent.test/cb',
    code: new URL(granted.location ?? '').searchParams.get('code') ?? '',
    code_verifier: 'v'.repeat(43),
  });
  equal(late.body.error, 'invalid_grant');
});

test('attack: many requests for one broken document fetch it once', async () => {
  const id = publish({ redirect_uris: [] });
  const before = visits();
  await Promise.all(Array.from({ length: 10 }, () => ask(id)));
  await ask(id);
  equal(visits(), before + 1);
  await change(app, { limit_agent_documents_host: 1 });
  const statuses = [
    (await ask(publish({}, 'busy.test'))).status,
    (await ask(publish({}, 'busy.test'))).status,
  ];
  deepEqual(statuses, [200, 429]);
  await change(app, { limit_agent_documents_host: 1000 });
});

test('attack: a sign-in for a metadata document leads nowhere but to the authorization endpoint', async () => {
  for (const target of ['https://evil.test/', '//evil.test/', '\r\nLocation: https://evil.test/']) {
    const state = `authorize.${Buffer.from(target).toString('base64url')}`;
    const page = await signedIn.get(`/account/callback?${new URLSearchParams({ state, code: 'x' })}`);
    ok(page.location?.startsWith(`${app.url}/oauth2/authorize?`), page.location);
  }
});

test('race: two processes read a document for the first time at once', async () => {
  const second = await startApp({ shared: app.store, env: { SECRET_KEY } });
  second.advance(app.now() - second.now());
  try {
    const other = new Agent(second);
    await other.signIn((await app.register()).id, { username: 'alice' });
    const id = publish();
    const members = sites.get(id);
    const waiting: (() => void)[] = [];
    sites.set(id, (_request, response) => {
      waiting.push(() => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(members));
      });
      if (waiting.length === 2) for (const answer of waiting) answer();
    });
    const pages = await Promise.all([ask(id), ask(id, other)]);
    for (const { status, body } of pages) {
      equal(status, 200, body.slice(0, 300));
      match(body, CONSENT);
    }
  } finally {
    await second.stop();
  }
});
