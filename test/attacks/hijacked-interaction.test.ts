// Attack: another user's sign-in in progress, or one's own at the wrong step (Keycloak
// CVE-2026-18963 and CVE-2025-12390, authentik CVE-2026-49443, Zitadel CVE-2025-64103).
import assert from 'node:assert/strict';
import { afterEach, beforeEach, suite, test } from 'node:test';
import { Agent, hiddenFields, type Page, redeem } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { honestRequest, isAccepted, openSignIn, type SignInForm, VERIFIER } from './sign-in-form.ts';

let app: TestApp;
let client: { id: string; secret: string };
let consenting: { id: string; secret: string };

beforeEach(async () => {
  app = await startApp();
  client = await app.register();
  consenting = await app.register({ skip_consent: false });
  await app.createUser('alice');
  await app.createUser('mallory');
});
afterEach(() => app.stop());

const codeIn = ({ location }: Page): string | null =>
  location === undefined ? null : new URL(location).searchParams.get('code');

const resumePath = ({ hidden }: SignInForm): string => `/oauth2/authorize/${hidden.interaction}`;

const activeSessions = async (): Promise<unknown> =>
  (await app.admin('GET', '/sessions?is_active=true')).body.data.total;

function assertExpired(page: Page, message?: string): void {
  assert.equal(codeIn(page), null, message);
  assert.equal(page.status, 400, message);
}

suite('attack: another browser’s interaction', () => {
  test('cannot be submitted with any mix of its tokens and the attacker’s', async () => {
    const [victim, thief] = [await openSignIn(app, client.id), await openSignIn(app, client.id)];
    const person = { username: 'mallory', password: PASSWORD };
    const mixtures = [
      { interaction: victim.hidden.interaction, csrf: victim.hidden.csrf },
      { interaction: victim.hidden.interaction, csrf: thief.hidden.csrf },
      { interaction: thief.hidden.interaction, csrf: victim.hidden.csrf },
    ];
    for (const { interaction = '', csrf = '' } of mixtures) {
      const page = await thief.browser.post('/oauth2/login', { interaction, csrf, ...person });
      assert.equal(page.status, 403);
    }
    assert.ok(isAccepted(await victim.attempt('alice')));
  });

  test('cannot be viewed by its id', async () => {
    const victim = await openSignIn(app, client.id, { login_hint: 'alice-was-here' });
    const page = await new Agent(app).get(`/oauth2/login?interaction=${victim.hidden.interaction}`);
    assertExpired(page);
    assert.doesNotMatch(page.body, /alice-was-here/);
  });

  test('cannot be resumed by its address, before or after the owner signed in', async () => {
    const victim = await openSignIn(app, client.id);
    const thief = await openSignIn(app, client.id);
    assertExpired(await thief.browser.get(resumePath(victim)));
    assert.ok(isAccepted(await victim.attempt('alice')));
    assertExpired(await thief.browser.get(resumePath(victim)));
    assertExpired(await new Agent(app).get(resumePath(victim)));
  });

  test('planted with its resume cookie, signs no one in to the attacker’s account', async () => {
    const mallorys = await openSignIn(app, client.id);
    assert.ok(isAccepted(await mallorys.attempt('mallory')));
    // What a sibling host can set for ours: every cookie but one whose name begins with __Host-.
    const cookies = mallorys.browser.cookiesFor(resumePath(mallorys)).split('; ');
    const plantable = cookies.filter((pair) => pair.startsWith('latchkey_resume'));
    assert.equal(plantable.length, 2, 'cookie and signature');
    const victim = new Agent(app);
    victim.plant(plantable.join('; '));
    assertExpired(await victim.get(resumePath(mallorys)));
    assert.equal(await activeSessions(), 0);

    const busy = await openSignIn(app, client.id);
    busy.browser.plant(plantable.join('; '));
    assertExpired(await busy.browser.get(resumePath(mallorys)));
    assert.equal(await activeSessions(), 0);
  });
});

suite('attack: steps out of order', () => {
  test('resume address before the password: the sign-in page again, no code', async () => {
    const form = await openSignIn(app, client.id);
    const page = await form.browser.follow(await form.browser.get(resumePath(form)));
    assert.equal(codeIn(page), null);
    assert.match(page.body, /name="password"/);
    assert.equal(await activeSessions(), 0);
  });

  test('resume address after a wrong password: no code', async () => {
    const form = await openSignIn(app, client.id);
    await form.attempt('alice', 'not the password');
    const page = await form.browser.follow(await form.browser.get(resumePath(form)));
    assert.equal(codeIn(page), null);
    assert.equal(await activeSessions(), 0);
  });

  test('a finished interaction: neither submitted nor resumed again', async () => {
    const form = await openSignIn(app, client.id);
    const accepted = await form.attempt('alice');
    const cookies = form.browser.cookiesFor(resumePath(form));
    assert.notEqual(codeIn(await form.browser.follow(accepted)), null);

    assertExpired(await form.attempt('alice'));
    assertExpired(await form.attempt('mallory'));
    form.browser.plant(cookies);
    assertExpired(await form.browser.get(resumePath(form)));
    assertExpired(await form.browser.get(`/oauth2/login?interaction=${form.hidden.interaction}`));
  });

  test('the sign-in form posted to a consent interaction, and the reverse', async () => {
    const form = await openSignIn(app, consenting.id);
    const early = await form.browser.post('/oauth2/consent', { ...form.hidden, action: 'allow' });
    assertExpired(early);

    const consent = await form.browser.follow(await form.attempt('alice'));
    const hidden = hiddenFields(consent.body);
    const person = { username: 'mallory', password: PASSWORD };
    assertExpired(await form.browser.post('/oauth2/login', { ...hidden, ...person }));
    const end = await form.browser.submit(consent, { action: 'allow' });
    assert.notEqual(codeIn(end), null);
  });

  test('resume address at the consent page: no code', async () => {
    const form = await openSignIn(app, consenting.id);
    const consent = await form.browser.follow(await form.attempt('alice'));
    const { interaction } = hiddenFields(consent.body);
    const page = await form.browser.follow(await form.browser.get(`/oauth2/authorize/${interaction}`));
    assert.equal(codeIn(page), null);
    assert.match(page.body, /\/oauth2\/consent/);
  });

  test('empty, unknown and malformed forms do not advance', async () => {
    const form = await openSignIn(app, consenting.id);
    const odd: Record<string, string>[] = [
      {},
      { action: 'continue' },
      { action: 'allow' },
      { action: '' },
      { username: 'alice' },
      { password: PASSWORD },
      { username: 'alice', password: '' },
      { login: 'true', accountId: 'alice', prompt: 'none' },
    ];
    for (const fields of odd) {
      const page = await form.browser.post('/oauth2/login', { ...form.hidden, ...fields });
      assert.equal(isAccepted(page), false, JSON.stringify(fields));
      assert.equal((await form.browser.post('/oauth2/login', fields)).status, 403);
    }
    const consent = await form.browser.follow(await form.attempt('alice'));
    const hidden = hiddenFields(consent.body);
    for (const fields of [{}, { action: '' }, { action: 'ALLOW' }, { scope: 'admin' }]) {
      const page = await form.browser.post('/oauth2/consent', { ...hidden, ...fields });
      assert.equal(page.status, 400, JSON.stringify(fields));
    }
  });

  test('no page but the password page is open before the password', async () => {
    const { browser } = await openSignIn(app, client.id);
    assert.equal((await browser.get('/admin')).status, 303);
    assert.equal((await browser.get('/admin/api/users')).status, 401);
    assert.equal((await browser.get('/oauth2/userinfo')).status, 401);
    assert.match((await browser.get('/oauth2/logout')).body, /./);
    const silent = await browser.authorize({ ...honestRequest(client.id), prompt: 'none' });
    assert.match(silent.location ?? '', /error=login_required/);
  });
});

test('attack: the request is changed between the page and its submission (R013)', async () => {
  const form = await openSignIn(app, client.id, { scope: 'openid', nonce: 'honest' });
  const changes = {
    scope: 'openid email profile admin',
    redirect_uri: 'https://evil.example/callback',
    client_id: consenting.id,
    nonce: 'changed',
    state: 'changed',
    code_challenge: 'x'.repeat(43),
  };
  const fields = { ...form.hidden, username: 'alice', password: PASSWORD };
  const accepted = await form.browser.post(`/oauth2/login?${new URLSearchParams(changes)}`, {
    ...fields,
    ...changes,
  });
  const query = `?${new URLSearchParams(changes)}`;
  const end = await form.browser.follow(await form.browser.get(`${accepted.location}${query}`));
  assert.match(end.location ?? '', /^https:\/\/rp\.example\/callback\?/);
  const { body, status } = await redeem(app, client, { code: codeIn(end) ?? '', verifier: VERIFIER });
  assert.equal(status, 200);
  assert.equal(body.scope, 'openid');
  assert.equal(new URL(end.location ?? '').searchParams.get('state'), 'st');
});

test('account switch: ends the previous user’s session and grants, and passes nothing on', async () => {
  const browser = new Agent(app);
  const first = await redeem(app, client, await browser.signIn(client.id, { username: 'alice' }));
  const form = await openSignIn(app, client.id, { prompt: 'login' }, browser);
  const end = await browser.follow(await form.attempt('mallory'));
  const second = await redeem(app, client, { code: codeIn(end) ?? '', verifier: VERIFIER });
  const subjectOf = async (token: string): Promise<unknown> => {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${app.url}/oauth2/userinfo`, { headers });
    return response.status === 200 ? JSON.parse(await response.text()).name : response.status;
  };
  assert.equal(await subjectOf(first.body.access_token), 401);
  assert.equal(second.status, 200);
  const { body } = await app.admin('GET', '/sessions?is_active=true');
  assert.deepEqual(
    body.data.items?.map(({ username }) => username),
    ['mallory'],
  );
});

test('sign-in: cancelling a second one leaves the first session unchanged (R011)', async () => {
  const browser = new Agent(app);
  await browser.signIn(client.id, { username: 'alice' });
  const form = await openSignIn(app, client.id, { prompt: 'login' }, browser);
  const end = await browser.follow(await browser.post('/oauth2/login', { ...form.hidden, action: 'cancel' }));
  assert.match(end.location ?? '', /error=access_denied/);
  const silent = await browser.authorize({ ...honestRequest(client.id), prompt: 'none' });
  assert.notEqual(codeIn(silent), null);
});
