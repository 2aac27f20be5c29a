// Attack: user enumeration by signing up, by the pages, by what happens afterwards, and by time.
// Usernames are public and a used one is reported; an address never is, not even as the username.
//
// The times: both kinds in random order, one after the other, so that whatever slows the machine slows both alike;
// timing.ts evaluates them. The hashes are the shipped ones, and the jobs run meanwhile: they are where the difference is made.
// A process of its own: its times are compared.
import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { startApp, type TestApp, type TestAppOptions } from '../support/app.ts';
import { type Mailbox, openMailbox } from '../support/mailbox.ts';
import { answersOf, openSignup } from '../support/signup.ts';
import { liftLimits } from './limits.ts';
import { sized } from './sizes.ts';
import { seeded, shuffled } from './statistics.ts';
import { assertSameTime } from './timing.ts';

// Of one length: a page that shows the address again is as long for all.
const KNOWN = {
  verified: 'known-v@example.com',
  unverified: 'known-u@example.com',
  idle: 'known-i@example.com',
};
const UNKNOWN = 'unknown@example.com';

async function start(t: TestContext, options: TestAppOptions, settings: Record<string, unknown> = {}) {
  const app = await startApp({ store: 'sqlite', ...options });
  const mailbox = await openMailbox(app);
  t.after(async () => {
    await app.stop();
    await mailbox.close();
  });
  await liftLimits(app);
  const { status } = await app.admin('PATCH', '/settings', { allow_self_signup: true, ...settings });
  assert.equal(status, 200);
  await app.createUser('verified', { email: KNOWN.verified, is_email_verified: true });
  await app.createUser('unverified', { email: KNOWN.unverified });
  await app.createUser('idle', { email: KNOWN.idle, is_email_verified: true, is_active: false });
  const client = await app.register();
  return { app, mailbox, client };
}

const VARIABLE_HEADERS = new Set(['date', 'x-request-id']);

/** An answer without what differs at every request and in every sign-in. */
function visible({ status, headers, body }: Page, typed: readonly string[]): object {
  const nonce = /'nonce-([^']+)'/.exec(headers.get('content-security-policy') ?? '')?.[1] ?? '-';
  const { csrf = '-', interaction = '-' } = hiddenFields(body);
  const hidden = [nonce, csrf, interaction, ...typed, ...typed.map(encodeURIComponent)];
  const plain = (text: string): string => hidden.reduce((rest, one) => rest.replaceAll(one, ''), text);
  const kept = [...headers].filter(([name]) => !VARIABLE_HEADERS.has(name));
  return { status, headers: kept.map(([name, value]) => [name, plain(value)]), body: plain(body) };
}

/** Everything that someone sees who signs up with this address and cannot read its mail. */
async function seenWith(
  { app, mailbox, client }: { app: TestApp; mailbox: Mailbox; client: { id: string } },
  email: string,
  answers: Record<string, string>,
): Promise<object[]> {
  const agent = new Agent(app);
  const form = await openSignup(app, client.id, agent);
  const typed = [email, hiddenFields(form.body).interaction ?? '-'];
  const sent = await agent.post('/oauth2/signup', { ...hiddenFields(form.body), ...answers, email });
  assert.equal(sent.status, 303);
  const redirect = (sent.location ?? '').replace(/interaction=[^&]+/, '');
  const page = await agent.follow(sent);
  const early = await agent.submit(page, { code: '000000' });
  await mailbox.deliver();
  const reloaded = await agent.get(page.url);
  const guesses: Page[] = [];
  for (let tries = 0; tries < 6; tries += 1) guesses.push(await agent.submit(page, { code: '000000' }));
  const countdown = /<p class="way">.*?<\/p>/s;
  const seen = [page, early, reloaded, ...guesses].map((one) =>
    visible({ ...one, body: one.body.replace(countdown, '') }, typed),
  );
  return [{ redirect }, ...seen];
}

suite('attack: sign-up enumeration; a known address looks like an unknown one', () => {
  for (const [name, settings] of Object.entries({
    'where it must be confirmed': {},
    'where it may be skipped': { signup_require_verified_email: false, signup_email: 'optional' },
    'where it is the username': { signup_username: 'hidden' },
  })) {
    test(`on every page, ${name}`, async (t) => {
      const parts = await start(t, {}, settings);
      const { username, ...rest } = answersOf('first-run');
      const answers: Record<string, string> = name.includes('username')
        ? rest
        : { username: username ?? '', ...rest };
      const unknown = await seenWith(parts, UNKNOWN, answers);
      for (const email of Object.values(KNOWN))
        assert.deepEqual(await seenWith(parts, email, answers), unknown, email);
    });
  }

  test('with the address as the username, too', async (t) => {
    const parts = await start(t, {});
    const answersFor = (email: string) => ({ ...answersOf(email), username: email });
    const unknown = await seenWith(parts, UNKNOWN, answersFor(UNKNOWN));
    for (const email of Object.values(KNOWN))
      assert.deepEqual(await seenWith(parts, email, answersFor(email)), unknown, email);
  });

  test('afterwards: the name used in the attempt is free in both cases', async (t) => {
    const parts = await start(t, {});
    for (const email of [UNKNOWN, KNOWN.verified]) {
      await seenWith(parts, email, answersOf('probe'));
      await seenWith(parts, 'other@example.com', answersOf('probe'));
    }
    const { body } = await parts.app.admin('GET', '/users');
    assert.equal(body.data.total, 3);
  });

  test('attack: omitting the address creates an account that reveals nothing', async (t) => {
    const { app, client } = await start(
      t,
      {},
      { signup_require_verified_email: false, signup_email: 'optional' },
    );
    for (const [name, email] of Object.entries({ ...KNOWN, unknown: UNKNOWN })) {
      const agent = new Agent(app);
      const form = await openSignup(app, client.id, agent);
      const page = await agent.submit(form, answersOf(`skips-${name}`, { email }));
      await agent.submit(page, { action: 'skip' });
      const { body } = await app.admin('GET', `/users?search=skips-${name}`);
      assert.deepEqual(
        body.data.items?.map((user) => [user.email, user.is_email_verified]),
        [[null, false]],
      );
    }
  });
});

test('attack: a username equal to another’s e-mail address', async (t) => {
  const { app, mailbox, client } = await start(t, {});
  const agent = new Agent(app);
  const form = await openSignup(app, client.id, agent);
  // With another address, with none that fits, in other spellings.
  for (const username of [KNOWN.verified, KNOWN.verified.toUpperCase(), KNOWN.verified.replace('@', '＠')]) {
    const page = await agent.submit(form, answersOf('x', { username, email: 'mallory@example.com' }));
    assert.equal(page.status, 400, username);
    assert.match(page.body, /must be the e-mail address of the same user/);
  }
  const page = await agent.submit(form, answersOf('x', { username: KNOWN.verified, email: KNOWN.verified }));
  await mailbox.deliver();
  assert.match(mailbox.received.at(-1)?.mail.subject ?? '', /already have/);
  assert.equal((await agent.submit(page, { code: '000000' })).status, 401);
  const { body } = await app.admin('GET', '/users');
  assert.equal(body.data.total, 3);
});

const TRIES = sized(60, 2000);
const WARM_UP = 10;
const MAX_SHIFT = 0.05;

test(`attack: sign-up enumeration by time; ${TRIES} interleaved attempts take equal time`, async (t) => {
  const { app, mailbox, client } = await start(t, { hashes: 'shipped' });
  app.app.jobs.start();
  const agent = new Agent(app);
  const hidden = hiddenFields((await openSignup(app, client.id, agent)).body);
  const addresses = { known: KNOWN.verified, unknown: UNKNOWN } as const;
  const kinds = ['known', 'unknown'] as const;
  await assertSameTime(t, {
    kinds,
    tries: TRIES,
    maxShift: MAX_SHIFT,
    async measure(tries, seed) {
      const random = seeded(85 + seed);
      const times: Record<(typeof kinds)[number], number[]> = { known: [], unknown: [] };
      for (let attempt = 0; attempt < tries + WARM_UP; attempt += 1) {
        for (const kind of shuffled(kinds, random)) {
          const startedAt = performance.now();
          const fields = { ...hidden, ...answersOf('first-run', { email: addresses[kind] }) };
          const page = await agent.post('/oauth2/signup', fields);
          const elapsed = performance.now() - startedAt;
          assert.equal(page.status, 303);
          if (attempt >= WARM_UP) times[kind].push(elapsed);
        }
      }
      return times;
    },
  });
  // The two kinds were not alike: to the one, notices were sent meanwhile.
  await mailbox.deliver();
  assert.ok(mailbox.received.some(({ mail }) => /already have/.test(mail.subject ?? '')));
});
