// No page, notice, event or API answer claims a delivery, a save or an ending that did not happen. Each way that mails somebody is
// gone with no mail server, with one that refuses at once, and with one that refuses at RCPT, and judged by what the page says, what the
// outbox holds, and what that server got; each act that writes, with the store away at the write.
import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { type MailServer, startMailServer } from '../mail/support.ts';
import { Agent, codeRequest, type Page } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { breakable } from '../support/broken-store.ts';
import { answersOf, begin } from '../support/signup.ts';
import { claimsOfProduct, HOLDERS, holderOf, IN_THE_PAST } from './claims.ts';

const OFF = /This server can(?:’|&#39;|&rsquo;)t send e(?:-|‑)mail/;
const hasCodeField = ({ body }: Page): boolean => /name="code"/.test(body);
const hasForm = ({ body }: Page, action: string): boolean => body.includes(`action="${action}"`);
const TURN_MS = 3000;

test('claims: each message that claims a delivery, a save or an ending has what makes it true', () => {
  const claims = claimsOfProduct();
  ok(claims.size > 60, String(claims.size));
  const counts = new Map<string, number>();
  for (const key of claims.keys()) counts.set(holderOf(key), (counts.get(holderOf(key)) ?? 0) + 1);
  deepEqual([...counts.keys()].sort(), Object.keys(HOLDERS).sort());
  const early = [...claims].filter(([key, text]) => !key.startsWith('mail.') && IN_THE_PAST.test(text));
  // The event is what the mail server answered; what a download has is not an act.
  deepEqual(
    early.map(([key]) => key).filter((key) => !['event mail.test_sent', 'own_data.what'].includes(key)),
    [],
  );
});

interface Condition {
  readonly name: string;
  /** @returns the setting smtp_url */
  readonly start: () => Promise<string>;
  readonly isOff: boolean;
}

let refusing: MailServer;
before(async () => {
  refusing = await startMailServer({ onRecipient: () => 550 });
});
after(() => refusing.close());

const conditions: readonly Condition[] = [
  { name: 'no mail server', start: async () => '', isOff: true },
  // Nothing listens there.
  { name: 'a mail server that refuses at once', start: async () => 'smtp://127.0.0.1:9', isOff: false },
  { name: 'a mail server that refuses at RCPT', start: async () => refusing.url(), isOff: false },
];

interface World {
  readonly app: TestApp;
  readonly client: { readonly id: string; readonly secret: string };
  /** The states of what the outbox has for this address, the latest first. */
  readonly outbox: (to: string) => Promise<string[]>;
  readonly tick: () => Promise<void>;
}

async function openWorld({ start }: Condition): Promise<World> {
  const app = await startApp();
  const settings = { smtp_url: await start(), allow_self_signup: true, allow_magic_link: true };
  equal((await app.admin('PATCH', '/settings', settings)).status, 200);
  const client = await app.register();
  const turn = async (): Promise<void> => {
    app.advance(TURN_MS);
    await app.app.jobs.tick();
  };
  return {
    app,
    client,
    async tick() {
      await turn();
      await turn();
    },
    async outbox(to) {
      const { body } = await app.admin('GET', `/mails?to=${encodeURIComponent(to)}`);
      return (body.data.items ?? []).map(({ state }) => String(state));
    },
  };
}

const person = async ({ app }: World, name: string, fields: Record<string, unknown> = {}) => {
  const email = `${name}@example.com`;
  return { ...(await app.createUser(name, { email, is_email_verified: true, ...fields })), email };
};

for (const condition of conditions) {
  test(`claims, ${condition.name}: visitors read what happens, known or not`, async () => {
    const world = await openWorld(condition);
    const { app, client, outbox, tick } = world;
    try {
      const known = await person(world, 'known');
      const pages: Page[] = [];
      for (const email of [known.email, 'nobody@example.com']) {
        const browser = new Agent(app);
        const form = await browser.get('/oauth2/forgot-password');
        equal(OFF.test(form.body), condition.isOff, form.body);
        equal(hasForm(form, '/oauth2/forgot-password'), !condition.isOff);
        if (condition.isOff) {
          pages.push(form);
          continue;
        }
        const sent = await browser.submit(form, { email });
        doesNotMatch(sent.body, IN_THE_PAST);
        match(sent.body, /it gets a link to choose a new password, unless an earlier one still works/);
        pages.push(sent);
      }
      const [one, other] = pages.map(({ body }) =>
        body.replaceAll(/nonce="[^"]*"|nonce-[\w+/=]*|value="[^"]*"|known@|nobody@/g, ''),
      );
      equal(one, other, 'the same words for names that do not exist');
      await tick();
      deepEqual(await outbox('nobody@example.com'), []);
      if (!condition.isOff) ok(['queued', 'failed'].includes(String((await outbox(known.email))[0])));

      const login = await begin(new Agent(app), client.id);
      const [, href = ''] = /href="([^"]*\/oauth2\/signup\?[^"]*)"/.exec(login.body) ?? [];
      ok(href !== '');
    } finally {
      await app.stop();
    }
  });

  test(`claims, ${condition.name}: sign-up and codes give no field for a code that never comes`, async () => {
    const world = await openWorld(condition);
    const { app, client } = world;
    try {
      const browser = new Agent(app);
      const login = await begin(browser, client.id);
      const [, href = ''] = /href="([^"]*\/oauth2\/signup\?[^"]*)"/.exec(login.body) ?? [];
      const form = await browser.get(new URL(href.replaceAll('&amp;', '&'), app.url).href);
      equal(OFF.test(form.body), condition.isOff, form.body);
      equal(hasForm(form, '/oauth2/signup'), !condition.isOff);
      if (!condition.isOff) {
        const next = await browser.submit(form, answersOf('newcomer'));
        ok(hasCodeField(next), next.body);
        doesNotMatch(next.body, IN_THE_PAST);
      }

      const coded = await person(world, 'coded');
      equal((await app.admin('PATCH', '/settings', { mfa_mode: 'required' })).status, 200);
      const second = new Agent(app);
      const enrol = await second.submit(await second.authorize(codeRequest(client.id)), {
        username: coded.username,
        password: PASSWORD,
      });
      // Codes by mail are offered where they can come.
      equal(/value="email"/.test(enrol.body), !condition.isOff, enrol.body);
      equal((await app.admin('PATCH', '/settings', { smtp_url: 'smtp://127.0.0.1:9' })).status, 200);
      const again = new Agent(app);
      const offered = await again.submit(await again.authorize(codeRequest(client.id)), {
        username: coded.username,
        password: PASSWORD,
      });
      ok(hasCodeField(await again.submit(offered, { action: 'email' })));
      // Whoever has chosen them, and then the server is gone.
      equal((await app.admin('PATCH', '/settings', { smtp_url: await condition.start() })).status, 200);
      const later = new Agent(app);
      const asked = await later.submit(await later.authorize(codeRequest(client.id)), {
        username: coded.username,
        password: PASSWORD,
      });
      equal(hasCodeField(asked), !condition.isOff, asked.body);
      equal(OFF.test(asked.body), condition.isOff);
      doesNotMatch(asked.body, IN_THE_PAST);
    } finally {
      await app.stop();
    }
  });

  test(`claims, ${condition.name}: an administrator reads what became of each mail`, async () => {
    const world = await openWorld(condition);
    const { app, outbox, tick } = world;
    try {
      await app.createUser('root-admin', {
        role: 'admin',
        email: 'root@example.com',
        is_email_verified: true,
      });
      const admin = new Agent(app);
      const signIn = await admin.follow(await admin.get('/admin'));
      equal((await admin.submit(signIn, { username: 'root-admin', password: PASSWORD })).status, 200);
      const state = condition.isOff ? 'kept' : 'queued';
      for (const [act, isVerified] of [
        ['send-password-reset', true],
        ['send-enrolment-link', true],
        ['send-email-verification', false],
      ] as const) {
        const user = await person(world, act, { is_email_verified: isVerified });
        const answer = await app.admin('POST', `/users/${user.id}/${act}`);
        equal(Reflect.get(Object(Reflect.get(answer.body, 'mail')), 'state'), state, act);
        deepEqual(await outbox(user.email), [state]);
        const page = await admin.get(`/admin/users/${user.id}`);
        const [, csrf = ''] = /name="csrf" value="([^"]*)"/.exec(page.body) ?? [];
        const done = await admin.follow(await admin.post(`/admin/users/${user.id}/${act}`, { csrf }));
        equal(done.status, 200);
        const isProof = act === 'send-email-verification';
        const off = isProof
          ? /This server can[^.]*nobody gets the verification/
          : /link created\. This server can/;
        match(done.body, condition.isOff ? off : /as soon as the mail server accepts/);
        doesNotMatch(done.body, IN_THE_PAST, act);
        equal(done.body.includes('class="notice note"'), condition.isOff, 'no success');
        const [mail] =
          (await app.admin('GET', `/mails?to=${encodeURIComponent(user.email)}`)).body.data.items ?? [];
        const path = `/admin/outbox/${mail?.id}`;
        equal(done.body.includes(path), !(isProof && condition.isOff));
        const shown = await admin.get(path);
        equal(shown.status, 200);
        // Who used that one would pass for the owner of the mailbox.
        equal(
          /id="mail-link"[^>]*>[^<]*\?token=/.test(shown.body),
          condition.isOff && !isProof,
          'a link to copy',
        );
        doesNotMatch(shown.body, /text of delivered/);
      }
      const invited = await app.admin('POST', '/invitations', { email: 'guest@example.com' });
      equal(Reflect.get(Object(Reflect.get(invited.body, 'mail')), 'state'), state);
      const tested = await app.admin('POST', '/settings/test-email', { to: 'root@example.com' });
      equal(tested.body.data.state, condition.isOff ? 'kept' : 'failed');
      const { body } = await app.admin('GET', '/audit?event=mail.test_sent');
      deepEqual(body.data.items, [], 'no event says that it was sent');
      const failed = (await app.admin('GET', '/audit?event=mail.test_failed')).body.data.items ?? [];
      deepEqual(
        failed.map(({ outcome }) => outcome),
        ['failure'],
      );
      const server = (await app.admin('GET', '/settings/mail-server')).body.data;
      equal(server.accepted_at, null);
      // Told at every visit, not only in the answer to the test.
      const mailPage = await admin.get('/admin/settings/mail');
      equal(/The mail server did not accept an e-mail/.test(mailPage.body), !condition.isOff);
      doesNotMatch(mailPage.body, /Not tested|>Works</);
      // The figures are those of at most ten seconds ago.
      app.advance(20_000);
      const overview = await admin.get('/admin');
      doesNotMatch(overview.body, /class="done"><div><h2>Connect a mail server/);
      if (condition.isOff) match(overview.body, /\d+ e-mails are waiting: no mail server/);
      const signup = await admin.get('/admin/settings/signing-up');
      equal(/nobody can sign up/.test(signup.body), condition.isOff);
      await tick();
      const oldest = '/mails?to=send-password-reset@example.com&sort=created_at&order=asc';
      const [mail] = (await app.admin('GET', oldest)).body.data.items ?? [];
      equal(Number(mail?.attempts) > 0, !condition.isOff);
      equal(mail?.last_error !== null, !condition.isOff, 'an error is that of an attempt');
      equal((await app.admin('PATCH', '/settings', { smtp_url: '' })).status, 200);
      const between = await admin.get(`/admin/outbox/${mail?.id}`);
      doesNotMatch(between.body, /<dt>Next attempt<\/dt><dd><time|text of delivered/);
      await tick();
      const { body: kept } = await admin.get(`/admin/outbox/${mail?.id}`);
      equal(/There was no mail server/.test(kept), condition.isOff);
      equal(/text was erased|removed before it accepted/.test(kept), !condition.isOff);
      doesNotMatch(kept, /text of delivered/);
    } finally {
      await app.stop();
    }
  });

  test(`claims, ${condition.name}: the owner of an account reads what happens`, async () => {
    const world = await openWorld(condition);
    const { app } = world;
    try {
      const owner = await person(world, 'owner');
      const browser = new Agent(app);
      const signIn = await browser.follow(await browser.get('/account/email'));
      const page = await browser.submit(signIn, { username: owner.username, password: PASSWORD });
      equal(page.status, 200);
      equal(OFF.test(page.body), condition.isOff);
      equal(/name="email"/.test(page.body), !condition.isOff);
      const [, csrf = ''] = /name="csrf" value="([^"]*)"/.exec((await browser.get('/account')).body) ?? [];
      const asked = await browser.follow(
        await browser.post('/account/email', { csrf, email: 'another@example.com' }),
      );
      equal(OFF.test(asked.body), condition.isOff, asked.body);
      doesNotMatch(asked.body, IN_THE_PAST);
      const pending = (await world.outbox('another@example.com')).length;
      equal(pending, condition.isOff ? 0 : 1);
      // To an address that an administrator typed no mail was made.
      const typed = await person(world, 'typed', { is_email_verified: false });
      const other = new Agent(app);
      const form = await other.follow(await other.get('/account/email'));
      const own = await other.submit(form, { username: typed.username, password: PASSWORD });
      equal(/It counts only once/.test(own.body), !condition.isOff, own.body);
      deepEqual(await world.outbox(typed.email), []);
      const notMe = await browser.get('/account/not-me');
      match(
        notMe.body,
        /no e-mail can reach them/,
        'nobody to tell: there is no administrator with an address',
      );
    } finally {
      await app.stop();
    }
  });
}

test('claims, the store away at the write: nothing is called saved, sent or ended', async () => {
  const inner = createMemoryStore({ clock: Date.now });
  const { store, broken } = breakable(inner);
  const app = await startApp({ shared: store });
  try {
    await app.createUser('root-admin', { role: 'admin' });
    const user = await app.createUser('owner', { email: 'owner@example.com', is_email_verified: true });
    const admin = new Agent(app);
    const signIn = await admin.follow(await admin.get('/admin'));
    equal((await admin.submit(signIn, { username: 'root-admin', password: PASSWORD })).status, 200);
    const csrfOf = async (path: string): Promise<string> =>
      /name="csrf" value="([^"]*)"/.exec((await admin.get(path)).body)?.[1] ?? '';
    const csrf = await csrfOf(`/admin/users/${user.id}`);
    const settings = await csrfOf('/admin/settings/mail');
    const acts: readonly (readonly [string, Record<string, string>, readonly string[]])[] = [
      [`/admin/users/${user.id}/send-password-reset`, { csrf }, ['mails']],
      [`/admin/users/${user.id}/send-password-reset`, { csrf }, ['links']],
      [`/admin/users/${user.id}/send-enrolment-link`, { csrf }, ['mails']],
      [`/admin/users/${user.id}/edit`, { csrf, username: 'other', version: '1' }, ['accounts']],
      [`/admin/users/${user.id}/deactivate`, { csrf }, ['accounts']],
      [`/admin/users/${user.id}/sign-out`, { csrf }, ['accounts']],
      [`/admin/users/${user.id}/delete`, { csrf, confirm: 'owner' }, ['accounts']],
      [
        '/admin/settings/mail',
        { csrf: settings, 'was.mail_from': '', mail_from: 'a@example.com' },
        ['settings'],
      ],
      ['/admin/invitations', { csrf, email: 'guest@example.com', days: '7' }, ['invitations']],
    ];
    for (const [path, fields, away] of acts) {
      for (const name of away) broken.add(name);
      const answer = await admin.post(path, fields);
      broken.clear();
      equal(
        answer.location?.includes('done=') === true || answer.status < 400,
        false,
        `${path}: ${answer.status}`,
      );
      doesNotMatch(answer.body, /class="notice(?: done)?"/, path);
    }
    equal((await app.admin('GET', `/users/${user.id}`)).body.data.is_active, true);
    deepEqual((await app.admin('GET', '/mails')).body.data.items, []);
  } finally {
    await app.stop();
    await inner.close();
  }
});
