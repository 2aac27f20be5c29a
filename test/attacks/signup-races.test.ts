// Attacks: many sign-ups of one name or address at once, and one invitation or code used many times at once (Keycloak CVE-2021-3754, CVE-2026-19607).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { openMailbox } from '../support/mailbox.ts';
import { answersOf, codeTo, openSignup } from '../support/signup.ts';
import { atOnce, RACED } from './sizes.ts';

const PARALLEL = 50;

const total = async (app: TestApp): Promise<unknown> => (await app.admin('GET', '/users')).body.data.total;

const isSentOn = ({ status, location }: Page): boolean => status === 303 && location !== undefined;

/** One name as different people write it. */
const spellings = [
  'Åsa-fi',
  'åsa-fi',
  'ÅSA-FI',
  'A\u030asa-fi',
  'Åsa-ﬁ',
  ' Åsa-fi ',
  '\u212bsa-fi',
  'Åsa-FI',
];

for (const store of RACED) {
  test(`race: ${PARALLEL} sign-ups of one username, ${store}: one account`, async (t) => {
    const app = await startApp({ store });
    t.after(() => app.stop());
    await app.admin('PATCH', '/settings', {
      allow_self_signup: true,
      signup_require_verified_email: false,
      signup_email: 'hidden',
    });
    const client = await app.register();
    const forms = await atOnce(PARALLEL, async () => {
      const agent = new Agent(app);
      return { agent, hidden: hiddenFields((await openSignup(app, client.id, agent)).body) };
    });
    const pages = await Promise.all(
      forms.map(({ agent, hidden }, index) => {
        const { email: _, ...answers } = answersOf(spellings[index % spellings.length] ?? '');
        return agent.post('/oauth2/signup', { ...hidden, ...answers });
      }),
    );
    assert.equal(pages.filter(isSentOn).length, 1);
    assert.equal(pages.filter(({ status }) => status === 400).length, PARALLEL - 1);
    assert.equal(await total(app), 1);
  });
}

test('race: many sign-ups of one address, each with the correct code: one account', async (t) => {
  const app = await startApp({ store: 'sqlite' });
  const mailbox = await openMailbox(app);
  t.after(async () => {
    await app.stop();
    await mailbox.close();
  });
  await app.admin('PATCH', '/settings', { allow_self_signup: true });
  const client = await app.register();
  const ready: { agent: Agent; hidden: Record<string, string>; code: string }[] = [];
  for (let index = 0; index < 5; index += 1) {
    const agent = new Agent(app);
    const email = index % 2 === 0 ? 'one@example.com' : 'ONE@Example.com';
    const page = await agent.submit(
      await openSignup(app, client.id, agent),
      answersOf(`person-${index}`, { email }),
    );
    const code = await codeTo(mailbox, email.replace('Example', 'example'));
    ready.push({ agent, hidden: hiddenFields(page.body), code });
  }
  assert.equal(new Set(ready.map(({ code }) => code)).size > 1, true);
  const pages = await Promise.all(
    ready.map(({ agent, hidden, code }) => agent.post('/oauth2/signup/verify', { ...hidden, code })),
  );
  assert.equal(pages.filter(isSentOn).length, 1, pages.map(({ status }) => status).join(' '));
  assert.equal(await total(app), 1);
});

test('race: one code sent many times: one account and one continuation', async (t) => {
  const app = await startApp({ store: 'sqlite' });
  const mailbox = await openMailbox(app);
  t.after(async () => {
    await app.stop();
    await mailbox.close();
  });
  await app.admin('PATCH', '/settings', { allow_self_signup: true });
  const client = await app.register();
  const agent = new Agent(app);
  const page = await agent.submit(await openSignup(app, client.id, agent), answersOf('once'));
  const code = await codeTo(mailbox, 'once@example.com');
  const hidden = hiddenFields(page.body);
  const pages = await atOnce(20, () => agent.post('/oauth2/signup/verify', { ...hidden, code }));
  assert.equal(pages.filter(isSentOn).length, 1);
  assert.equal(await total(app), 1);
});

test('race: many guesses of a code are five', async (t) => {
  const app = await startApp();
  const mailbox = await openMailbox(app);
  t.after(async () => {
    await app.stop();
    await mailbox.close();
  });
  await app.admin('PATCH', '/settings', { allow_self_signup: true });
  const client = await app.register();
  const agent = new Agent(app);
  const page = await agent.submit(await openSignup(app, client.id, agent), answersOf('target'));
  const code = await codeTo(mailbox, 'target@example.com');
  const hidden = hiddenFields(page.body);
  const guess = (index: number): string => String((Number(code) + 1 + index) % 1_000_000).padStart(6, '0');
  const pages = await atOnce(30, (index) =>
    agent.post('/oauth2/signup/verify', { ...hidden, code: guess(index) }),
  );
  assert.equal(pages.filter(({ body }) => body.includes('expired')).length, 25);
  assert.equal((await agent.post('/oauth2/signup/verify', { ...hidden, code })).status, 401);
  assert.equal(await total(app), 0);
});

test('attack: guesses for one address end for the day, however many sign-ups share them', async (t) => {
  const app = await startApp({ limits: 'shipped' });
  const mailbox = await openMailbox(app);
  t.after(async () => {
    await app.stop();
    await mailbox.close();
  });
  await app.admin('PATCH', '/settings', { allow_self_signup: true, limit_mail_requester_ip: 1000 });
  const client = await app.register();
  const statuses: number[] = [];
  for (let round = 0; round < 6; round += 1) {
    const agent = new Agent(app);
    const email = round % 2 === 0 ? 'victim@example.com' : 'VICTIM@example.com';
    const page = await agent.submit(
      await openSignup(app, client.id, agent),
      answersOf(`mallory-${round}`, { email }),
    );
    const code = await codeTo(mailbox, email);
    const wrong = code === '111111' ? '222222' : '111111';
    for (let tries = 0; tries < 5; tries += 1)
      statuses.push((await agent.submit(page, { code: wrong })).status);
  }
  assert.equal(statuses.filter((status) => status === 401).length, 20);
  assert.equal(statuses.filter((status) => status === 429).length, 10);
});

for (const store of RACED) {
  test(`race: one invitation accepted ${PARALLEL} times, ${store}: one account`, async (t) => {
    const app = await startApp({ store });
    t.after(() => app.stop());
    const { body } = await app.admin('POST', '/invitations', {
      email: 'guest@example.com',
      send_mail: false,
    });
    const url = String(body.data.url);
    const forms = await atOnce(PARALLEL, async () => {
      const agent = new Agent(app);
      return { agent, hidden: hiddenFields((await agent.get(url)).body) };
    });
    const pages = await Promise.all(
      forms.map(({ agent, hidden }, index) => {
        const { email: _, ...answers } = answersOf(`guest-${index}`);
        return agent.post('/oauth2/signup', { ...hidden, ...answers });
      }),
    );
    assert.equal(pages.filter(({ status }) => status === 303).length, 1);
    assert.equal(pages.filter(({ status }) => status === 410).length, PARALLEL - 1);
    assert.equal(await total(app), 1);
  });
}
