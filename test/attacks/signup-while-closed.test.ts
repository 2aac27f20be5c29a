// Attack: creating an account while sign-up is closed, on every path (Zitadel CVE-2026-29193, CVE-2024-49757).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { answersOf, begin, openSignup } from '../support/signup.ts';

let app: TestApp;
let shut: { id: string };
let open: { id: string };
before(async () => {
  app = await startApp();
  shut = await app.register();
  open = await app.register({ allow_self_signup: true });
  await app.admin('PATCH', '/settings', {
    signup_require_verified_email: false,
    signup_email: 'optional',
    smtp_url: 'smtp://127.0.0.1:9',
  });
});
after(() => app.stop());

const count = async (): Promise<unknown> => (await app.admin('GET', '/users')).body.data.total;

const answers = (): Record<string, string> => ({ ...answersOf('intruder'), email: '' });

async function assertNothing(page: Page): Promise<void> {
  assert.ok([400, 403].includes(page.status), `${page.status} ${page.body}`);
  assert.equal(await count(), 0);
}

test('attack: sign-up while closed; no link, and prompt=create shows the sign-in page', async () => {
  for (const parameters of [{}, { prompt: 'create' }, { prompt: 'create login' }]) {
    const page = await begin(new Agent(app), shut.id, parameters);
    assert.equal(page.status, 200);
    assert.ok(page.body.includes('action="/oauth2/login"'));
    assert.ok(!page.body.includes('confirm_password'));
    assert.ok(!page.body.includes('/oauth2/signup'));
  }
});

test('attack: sign-up while closed by GET and POST with the sign-in page’s hidden fields', async () => {
  for (const parameters of [{}, { prompt: 'create' }, { prompt: 'select_account' }]) {
    const agent = new Agent(app);
    const hidden = hiddenFields((await begin(agent, shut.id, parameters)).body);
    const { interaction = '' } = hidden;
    await assertNothing(await agent.get(`/oauth2/signup?interaction=${interaction}`));
    await assertNothing(await agent.get(`/oauth2/signup?interaction=${interaction}&client_id=${open.id}`));
    await assertNothing(await agent.post('/oauth2/signup', { ...hidden, ...answers() }));
    await assertNothing(await agent.post('/oauth2/signup', { ...hidden, ...answers(), client_id: open.id }));
    await assertNothing(await agent.get(`/oauth2/signup/verify?interaction=${interaction}`));
    await assertNothing(await agent.post('/oauth2/signup/verify', { ...hidden, code: '000000' }));
    await assertNothing(await agent.post('/oauth2/signup/verify', { ...hidden, action: 'skip' }));
    await assertNothing(await agent.post('/oauth2/signup/email', hidden));
  }
});

test('attack: form of a client with sign-up, interaction of one without', async () => {
  const agent = new Agent(app);
  const hidden = hiddenFields((await begin(agent, shut.id)).body);
  const honest = hiddenFields((await openSignup(app, open.id, agent)).body);
  const { interaction = '', csrf = '' } = hidden;
  await assertNothing(await agent.post('/oauth2/signup', { ...honest, interaction, ...answers() }));
  await assertNothing(await agent.post('/oauth2/signup', { ...honest, interaction, csrf, ...answers() }));
});

test('attack: sign-up closed while the form was open or the code under way', async () => {
  const agent = new Agent(app);
  const form = await openSignup(app, open.id, agent);
  const asked = await agent.submit(form, { ...answersOf('intruder') });
  assert.match(asked.url, /\/verify/);
  await app.admin('PATCH', `/clients/${open.id}`, { allow_self_signup: false });
  await assertNothing(await agent.submit(form, answers()));
  await assertNothing(await agent.submit(asked, { action: 'skip' }));
  await assertNothing(await agent.submit(asked, { code: '000000' }));
  await app.admin('PATCH', `/clients/${open.id}`, { allow_self_signup: true });
});

test('attack: sign-up through a deactivated client', async () => {
  const other = await app.register({ allow_self_signup: true });
  const agent = new Agent(app);
  const form = await openSignup(app, other.id, agent);
  await app.admin('PATCH', `/clients/${other.id}`, { is_active: false });
  await assertNothing(await agent.submit(form, answers()));
});

test('attack: sign-up while closed by forged invitations or by registering a client', async () => {
  const { body } = await app.admin('POST', '/invitations', { email: 'guest@example.com' });
  const url = new URL(String(body.data.url));
  const token = url.searchParams.get('token') ?? '';
  const agent = new Agent(app);
  const form = await agent.get(url.href);
  const hidden = hiddenFields(form.body);
  const { email: _, ...fields } = answers();
  for (const bad of [
    '',
    'x',
    token.slice(1),
    token.slice(0, -1),
    `${token}x`,
    token.toLowerCase(),
    '\u0000',
  ]) {
    const page = await agent.post('/oauth2/signup', { ...hidden, token: bad, ...fields });
    assert.ok([400, 410].includes(page.status), `${bad}: ${page.status}`);
    assert.ok(
      [400, 410].includes((await agent.get(`/oauth2/signup?token=${encodeURIComponent(bad)}`)).status),
    );
  }
  const registered = await fetch(`${app.url}/oauth2/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: ['https://evil.example/cb'], allow_self_signup: true }),
  });
  assert.equal(registered.status, 401);
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    assert.equal((await agent.request('/oauth2/signup', { method })).status, 405);
  }
  await assertNothing(await new Agent(app).post('/oauth2/signup', { username: 'x', password: PASSWORD }));
});
