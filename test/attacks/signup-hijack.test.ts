// Attacks on a sign-up in progress: from another browser, leaving out a step, using a code elsewhere or again (authentik CVE-2026-49443, Keycloak CVE-2026-18963).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { type Mailbox, openMailbox } from '../support/mailbox.ts';
import { answersOf, codeOf, codeTo, openSignup, userNamed } from '../support/signup.ts';

let app: TestApp;
let mailbox: Mailbox;
let client: { id: string };
before(async () => {
  app = await startApp({ store: 'sqlite' });
  mailbox = await openMailbox(app);
  client = await app.register();
  await app.admin('PATCH', '/settings', { allow_self_signup: true });
});
after(async () => {
  await app.stop();
  await mailbox.close();
});

async function underWay(name: string, answers: Record<string, string> = {}) {
  const agent = new Agent(app);
  const page = await agent.submit(await openSignup(app, client.id, agent), answersOf(name, answers));
  assert.match(page.url, /\/verify/);
  return { agent, page, hidden: hiddenFields(page.body) };
}

test('attack: another browser with everything but the cookie, at each step', async () => {
  const { page, hidden } = await underWay('victim');
  const code = await codeTo(mailbox, 'victim@example.com');
  const other = new Agent(app);
  await openSignup(app, client.id, other);
  const { interaction = '' } = hidden;
  const tries: Page[] = [
    await other.get(page.url),
    await other.get(`/oauth2/signup?interaction=${interaction}`),
    await other.post('/oauth2/signup', { ...hidden, ...answersOf('mallory') }),
    await other.post('/oauth2/signup/verify', { ...hidden, code }),
    await other.post('/oauth2/signup/verify', { ...hidden, action: 'skip' }),
    await other.post('/oauth2/signup/email', hidden),
  ];
  for (const { status, body } of tries) {
    assert.ok([400, 403].includes(status), String(status));
    assert.ok(!body.includes('victim@example.com'));
  }
  assert.equal(await userNamed(app, 'victim'), undefined);
  assert.equal(await userNamed(app, 'mallory'), undefined);
});

test('attack: continuing without the code by resume address, empty form or next step', async () => {
  const { agent, hidden } = await underWay('hasty');
  const { interaction = '' } = hidden;
  for (const fields of [{}, { code: '' }, { action: 'continue' }, { action: 'skip' }, { code: '      ' }]) {
    const page = await agent.follow(await agent.post('/oauth2/signup/verify', { ...hidden, ...fields }));
    assert.equal(page.location, undefined, JSON.stringify(fields));
  }
  const mfa = await agent.get(`/oauth2/mfa?interaction=${interaction}`);
  assert.equal(mfa.status, 400);
  const login = await agent.post('/oauth2/login', { ...hidden, username: 'hasty', password: PASSWORD });
  assert.equal(login.status, 401);
  // That ends what was under way: it begins anew, at the sign-in page.
  const resumed = await agent.follow(await agent.get(`/oauth2/authorize/${interaction}`));
  assert.equal(resumed.location, undefined);
  assert.equal(await userNamed(app, 'hasty'), undefined);
});

test('attack: a code of another sign-up, even for the same address', async () => {
  const first = await underWay('first', { email: 'shared@example.com' });
  const code = await codeTo(mailbox, 'shared@example.com');
  const second = await underWay('second', { email: 'shared@example.com' });
  const other = await codeTo(mailbox, 'shared@example.com');
  if (code !== other) assert.equal((await second.agent.submit(second.page, { code })).status, 401);
  codeOf(await first.agent.submit(first.page, { code }));
  assert.equal(await userNamed(app, 'second'), undefined);
});

test('attack: a code of another address than the one entered afterwards', async () => {
  const { agent, page } = await underWay('switcher', { email: 'mine@example.com' });
  const code = await codeTo(mailbox, 'mine@example.com');
  const [, href = ''] = /href="([^"]*\/oauth2\/signup\?[^"]*)"/.exec(page.body) ?? [];
  const form = await agent.get(new URL(href.replaceAll('&amp;', '&'), app.url).href);
  const again = await agent.submit(form, answersOf('switcher', { email: 'theirs@example.com' }));
  assert.equal((await agent.submit(again, { code })).status, 401);
  await mailbox.deliver();
  assert.equal((await agent.submit(again, { code })).status, 401);
  assert.equal(await userNamed(app, 'switcher'), undefined);
});

test('attack: forms of a finished sign-up', async () => {
  const { agent, page, hidden } = await underWay('done');
  const code = await codeTo(mailbox, 'done@example.com');
  codeOf(await agent.submit(page, { code }));
  const tries = [
    await agent.post('/oauth2/signup/verify', { ...hidden, code }),
    await agent.post('/oauth2/signup', { ...hidden, ...answersOf('done-again') }),
    await agent.post('/oauth2/signup/email', hidden),
  ];
  for (const { status } of tries) assert.equal(status, 400);
  const { body } = await app.admin('GET', '/users?search=done');
  assert.equal(body.data.total, 1);
});

test('attack: a consent step with a sign-up form', async () => {
  const asking = await app.register({ skip_consent: false });
  await app.createUser('consenting');
  const agent = new Agent(app);
  const login = await openSignup(app, asking.id, agent);
  const { interaction = '' } = hiddenFields(login.body);
  const signIn = await agent.get(`/oauth2/login?interaction=${interaction}`);
  const consent = await agent.submit(signIn, { username: 'consenting', password: PASSWORD });
  const hidden = hiddenFields(consent.body);
  assert.match(consent.url, /\/consent/);
  assert.equal((await agent.post('/oauth2/signup', { ...hidden, ...answersOf('sneaky') })).status, 400);
  assert.equal((await agent.get(`/oauth2/signup?interaction=${hidden.interaction}`)).status, 400);
});
