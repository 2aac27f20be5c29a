// Attack (RFC 8252 §8.6, decision 0009): a program on the person's device asks under the name of an application that an
// administrator vouches for, and listens at its loopback port or claims its scheme. Nothing goes there without a page that names both.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { change } from '../flows/support.ts';
import { Agent, challengeOf, codeRequest } from '../support/agent.ts';
import { REDIRECT_URI, startApp } from '../support/app.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
await change(app, { legacy_profiles: true });
const alice = await app.createUser('alice');
const root = await app.createUser('root', { role: 'admin' });
const anchor = await app.register();

const LOOPBACK = 'http://127.0.0.1:51004/callback';
const SCHEME = 'com.example.app:/callback';

/** A browser that is signed in already. */
async function signedIn(user = alice): Promise<Agent> {
  const agent = new Agent(app);
  await agent.signIn(anchor.id, user);
  return agent;
}

const native = (uris: readonly string[], more: object = {}) =>
  app.register({
    client_name: 'Desk tool',
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    redirect_uris: uris,
    ...more,
  });

const ask = (agent: Agent, id: string, redirect_uri: string, more: Record<string, string> = {}) =>
  agent.authorize({ ...codeRequest(id), redirect_uri, state: 's', ...more });

const isCode = (location: string | undefined): boolean => /[?&#]code=/.test(location ?? '');

/** One page with one button, which names the application and where it goes; then the code. */
async function expectPage(agent: Agent, id: string, uri: string, shown: string, more = {}): Promise<void> {
  const silent = await ask(agent, id, uri, { ...more, prompt: 'none' });
  match(silent.location ?? '', /error=interaction_required/, uri);
  ok(!isCode(silent.location), uri);
  const page = await ask(agent, id, uri, more);
  equal(page.status, 200, `${uri} ${page.location}`);
  match(page.body, /Continue to <b><bdi[^>]*>Desk tool/, page.body);
  ok(page.body.replaceAll('<wbr>', '').includes(shown), `${shown} in ${page.body}`);
  const buttons = page.body.match(/name="action"/g) ?? [];
  equal(buttons.length, 1);
  const done = await agent.submit(page, { action: 'allow' });
  ok(isCode(done.location), done.location ?? done.body);
  ok(done.location?.startsWith(uri.replace(/\?.*/, '')), done.location);
  // Each time: it is remembered nowhere.
  equal((await ask(agent, id, uri, more)).status, 200);
}

test('attack: a code to any program on a loopback port, silently', async () => {
  const agent = await signedIn();
  for (const registered of [
    'http://127.0.0.1/callback',
    'http://localhost/callback',
    'http://[::1]/callback',
  ]) {
    const client = await native([registered]);
    const asked = registered.replace('/callback', ':51004/callback');
    await expectPage(agent, client.id, asked, new URL(asked).host);
  }
  const exact = await native([LOOPBACK]);
  await expectPage(agent, exact.id, LOOPBACK, '127.0.0.1:51004');
  await expectPage(agent, exact.id, 'http://127.0.0.1:51005/callback', '127.0.0.1:51005');
});

test('attack: by another name or address of the device', async () => {
  const agent = await signedIn();
  for (const uri of [
    'https://[::ffff:7f00:1]:8443/cb',
    'https://[::]:8443/cb',
    'https://0.0.0.0:8443/cb',
    'https://localhost.localdomain:8443/cb',
    'https://ip6-localhost:8443/cb',
  ]) {
    const client = await native([uri]);
    await expectPage(agent, client.id, uri, new URL(uri).host);
  }
});

test('attack: a code to any program that claims an application’s scheme, silently', async () => {
  const client = await native([SCHEME]);
  await expectPage(await signedIn(), client.id, SCHEME, 'com.example.app:');
});

test('attack: a code to a loopback address of a web application without a port, silently', async () => {
  const client = await app.register({ client_name: 'Desk tool', redirect_uris: ['http://localhost/cb'] });
  await expectPage(await signedIn(), client.id, 'http://localhost/cb', 'localhost');
});

test('attack: by another response mode, a pushed request or the person’s consent before', async () => {
  const agent = await signedIn();
  const client = await native(['http://127.0.0.1/callback']);
  for (const response_mode of ['fragment', 'form_post']) {
    const page = await ask(agent, client.id, LOOPBACK, { response_mode });
    match(page.body, /Continue to/, response_mode);
    const silent = await ask(agent, client.id, LOOPBACK, { response_mode, prompt: 'none' });
    ok(!/name="code"|code=/.test(silent.body + (silent.location ?? '')), response_mode);
  }
  const pushed = await fetch(`${app.url}/oauth2/par`, {
    method: 'POST',
    body: new URLSearchParams({ ...codeRequest(client.id), redirect_uri: LOOPBACK }),
  });
  const { request_uri } = Object(await pushed.json());
  const page = await agent.authorize({ client_id: client.id, request_uri: String(request_uri) });
  match(page.body, /Continue to/);
  // Consent of a third party is asked on one page that names both, each time.
  const third = await native(['http://127.0.0.1/callback'], { skip_consent: false });
  for (let time = 0; time < 2; time += 1) {
    const consent = await ask(agent, third.id, LOOPBACK);
    ok(consent.body.replaceAll('<wbr>', '').includes('127.0.0.1:51004'));
    ok(isCode((await agent.submit(consent, { action: 'allow' })).location), 'and no further page');
  }
  match((await ask(agent, third.id, LOOPBACK, { prompt: 'none' })).location ?? '', /interaction_required/);
});

test('attack: a code with admin scopes to a web application’s loopback address, silently', async () => {
  const agent = await signedIn(root);
  const client = await app.register({
    client_name: 'Desk tool',
    redirect_uris: ['http://localhost:5173/cb'],
    scope: 'openid admin:read',
  });
  const uri = 'http://localhost:5173/cb';
  await expectPage(agent, client.id, uri, 'localhost:5173', { scope: 'openid admin:read' });
  ok(isCode((await ask(agent, client.id, uri, { prompt: 'none' })).location), 'without it as before');
});

test('silent sign-in: web applications on localhost and claimed https addresses go on', async () => {
  const agent = await signedIn();
  const uri = 'http://localhost:5173/silent-check-sso.html';
  const spa = await app.register({
    redirect_uris: [uri],
    token_endpoint_auth_method: 'none',
    web_origins: ['http://localhost:5173'],
  });
  const claimed = await native([REDIRECT_URI]);
  for (const [id, to] of [
    [spa.id, uri],
    [claimed.id, REDIRECT_URI],
    [anchor.id, REDIRECT_URI],
  ] as const)
    ok(isCode((await ask(agent, id, to, { prompt: 'none' })).location), to);
});

test('attack: the form of the page in another browser, or with another step’s answer', async () => {
  const client = await native([LOOPBACK]);
  const page = await ask(await signedIn(), client.id, LOOPBACK);
  const other = await (await signedIn(root)).submit(page, { action: 'allow' });
  ok(!isCode(other.location), other.location);
  const verifier = 'w'.repeat(43);
  const agent = new Agent(app);
  const first = await agent.authorize({
    ...codeRequest(client.id),
    redirect_uri: LOOPBACK,
    code_challenge: challengeOf(verifier),
  });
  const refused = await agent.post(`${app.url}/oauth2/consent`, { action: 'allow' });
  ok(refused.status >= 400 && first.status === 200);
  deepEqual(isCode(refused.location), false);
});
