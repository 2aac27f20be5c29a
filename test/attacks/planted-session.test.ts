// Attack: session fixation, a session that the attacker knows before the user signs in with it (Keycloak
// CVE-2024-7341, Zitadel CVE-2024-28197).
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { Agent, hiddenFields } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { honestRequest, openSignIn } from './sign-in-form.ts';

let app: TestApp;
let client: { id: string; secret: string };

beforeEach(async () => {
  app = await startApp();
  client = await app.register();
  await app.createUser('alice');
});
afterEach(() => app.stop());

/** The device page needs a session before anyone has signed in: the attacker gets one there. */
async function anonymousSession(): Promise<string> {
  const attacker = new Agent(app);
  await attacker.get('/oauth2/device');
  const cookies = attacker.cookiesFor('/oauth2').split('; ');
  const session = cookies.filter((pair) => pair.startsWith('latchkey_session'));
  assert.equal(session.length, 2, 'no session to plant: find another page that makes one');
  return session.join('; ');
}

async function isSignedIn(cookies: string): Promise<boolean> {
  const attacker = new Agent(app);
  attacker.plant(cookies);
  const page = await attacker.authorize({ ...honestRequest(client.id), prompt: 'none' });
  assert.ok(page.location, page.body);
  return page.location.includes('code=');
}

const sessionOf = (browser: Agent): string =>
  browser
    .cookiesFor('/')
    .split('; ')
    .filter((pair) => pair.startsWith('latchkey_session'))
    .join('; ');

test('attack: session planted before the sign-in', async () => {
  const planted = await anonymousSession();
  const victim = new Agent(app);
  victim.plant(planted);
  await victim.signIn(client.id, { username: 'alice' });
  assert.equal(await isSignedIn(sessionOf(victim)), true);
  assert.equal(await isSignedIn(planted), false);
});

test('attack: session planted while the password is typed', async () => {
  const planted = await anonymousSession();
  const form = await openSignIn(app, client.id);
  form.browser.plant(planted);
  await form.browser.follow(await form.attempt('alice'));
  assert.equal(await isSignedIn(planted), false);
});

test('attack: session planted before onboarding', async () => {
  const fresh = await startApp();
  try {
    const attacker = new Agent(fresh);
    await attacker.get('/oauth2/device');
    const planted = attacker.cookiesFor('/oauth2');
    const victim = new Agent(fresh);
    victim.plant(planted);
    const page = await victim.get('/onboard');
    const person = { username: 'root-admin', password: PASSWORD, confirm_password: PASSWORD };
    const done = await victim.post('/oauth2/onboard', { ...hiddenFields(page.body), ...person });
    assert.equal(done.status, 303);
    assert.equal((await victim.follow(await victim.get('/admin'))).status, 200);
    const thief = new Agent(fresh);
    thief.plant(planted);
    assert.equal((await thief.get('/admin')).status, 303);
  } finally {
    await fresh.stop();
  }
});

test('attack: session id known from an earlier sign-in; it changes at each authentication', async () => {
  const browser = new Agent(app);
  await browser.signIn(client.id, { username: 'alice' });
  const first = sessionOf(browser);
  const form = await openSignIn(app, client.id, { prompt: 'login' }, browser);
  await browser.follow(await form.attempt('alice'));
  assert.notEqual(sessionOf(browser), first);
  assert.equal(await isSignedIn(first), false);
  assert.equal(await isSignedIn(sessionOf(browser)), true);
});

test('sign-out: the old cookie stays invalid, also after a new sign-in', async () => {
  const browser = new Agent(app);
  await browser.signIn(client.id, { username: 'alice' });
  const old = sessionOf(browser);
  await browser.get('/oauth2/logout');
  assert.equal(await isSignedIn(old), false);
  browser.plant(old);
  await browser.signIn(client.id, { username: 'alice' });
  assert.equal(await isSignedIn(old), false);
});

test('attack: the attacker’s browser cookie in the victim’s browser shares no session', async () => {
  const attacker = await openSignIn(app, client.id);
  const browserCookie = attacker.browser.cookiesFor('/');
  const victim = new Agent(app);
  victim.plant(browserCookie);
  await victim.signIn(client.id, { username: 'alice' });
  const page = await attacker.browser.authorize({ ...honestRequest(client.id), prompt: 'none' });
  assert.match(page.location ?? '', /error=login_required/);
});
