// Forms of the Admin UI and of /account lose no input and repeat no act: a form interrupted by a sign-in returns filled in,
// for its own user in the same browser, and a reload repeats nothing.
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { adminPages } from '../../src/admin/console/page-list.ts';
import { dumpAnyStore } from '../attacks/store-dump.ts';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let client: { id: string };
before(async () => {
  app = await startApp({ store: 'sqlite' });
  // Without a mail server nothing asks for an address.
  await app.admin('PATCH', '/settings', { smtp_url: 'smtp://127.0.0.1:9' });
  client = await app.register({ client_name: 'Kept as it was' });
  await app.createUser('root-admin', { role: 'admin' });
  await app.createUser('second-admin', { role: 'admin' });
});
after(() => app.stop());

const IDLE_MS = 901_000;

const signInAs = async (agent: Agent, username: string, page: Page): Promise<Page> =>
  agent.submit(await agent.follow(page), { username, password: PASSWORD });

async function enter(username = 'root-admin'): Promise<Agent> {
  const agent = new Agent(app);
  equal((await signInAs(agent, username, await agent.get('/admin'))).status, 200);
  return agent;
}

/** Sends the form with `action` of this page. */
async function send(
  agent: Agent,
  path: string,
  action: string,
  fields: Record<string, string>,
): Promise<Page> {
  const page = await agent.get(path);
  equal(page.status, 200, path);
  return agent.post(action, { ...hiddenFields(page.body), ...fields });
}

const total = async (path: string): Promise<unknown> => (await app.admin('GET', path)).body.data.total;

const fieldIn = ({ body }: Page, name: string): string | undefined =>
  new RegExp(`<textarea[^>]*name="${name}"[^>]*>\n?([^<]*)</textarea>`).exec(body)?.[1] ??
  /value="([^"]*)"/.exec(new RegExp(`<input[^>]*name="${name}"[^>]*>`).exec(body)?.[0] ?? '')?.[1];

const RESTORED = /what you had typed is back/;
const typed = {
  name: 'Half an hour of "typing" <b>&amp;',
  type: 'spa',
  redirect_uris: 'https://one.example/callback\r\nhttps://two.example/callback',
  first_party: 'on',
};
suite('an idle administrator', () => {
  test('form: returns filled in after the sign-in, is not sent by itself, then works', async () => {
    const agent = await enter();
    const count = Number(await total('/clients'));
    const page = await agent.get('/admin/applications/new/web');
    app.advance(IDLE_MS);
    const sent = await agent.post('/admin/applications/new/web', { ...hiddenFields(page.body), ...typed });
    equal(sent.status, 303);
    app.advance(-IDLE_MS);
    const back = await agent.follow(sent);
    equal(back.status, 200);
    equal(new URL(back.url).pathname, '/admin/applications/new/web');
    match(back.body, RESTORED);
    equal(fieldIn(back, 'name'), 'Half an hour of &#34;typing&#34; &#60;b&#62;&#38;amp;');
    equal(fieldIn(back, 'redirect_uris'), typed.redirect_uris);
    match(back.body, /<input checked[^>]*name="first_party"/);
    ok(![...back.headers].some(([, value]) => value.includes('typing')));
    ok(!back.url.includes('typing'));
    equal(await total('/clients'), count);

    // Once: a reload has the empty form.
    const again = await agent.get(back.url);
    ok(!again.body.includes('two.example'));
    const done = await agent.follow(
      await agent.post('/admin/applications/new/web', { ...hiddenFields(back.body), ...typed }),
    );
    equal(done.status, 200);
    equal(await total('/clients'), count + 1);
  });

  test('form: the same after the session ended here or by another tab’s sign-in', async () => {
    const agent = await enter();
    const page = await agent.get('/admin/applications/new/web');
    await agent.get('/oauth2/logout');
    const sent = await agent.post('/admin/applications/new/web', { ...hiddenFields(page.body), ...typed });
    const back = await signInAs(agent, 'root-admin', sent);
    match(back.body, RESTORED);
    equal(fieldIn(back, 'redirect_uris'), typed.redirect_uris);

    // A form of the session before, sent in the one after.
    const stale = await agent.post('/admin/applications/new/web', { ...hiddenFields(page.body), ...typed });
    equal(stale.status, 303);
    equal(fieldIn(await agent.follow(stale), 'redirect_uris'), typed.redirect_uris);
  });

  test('edit: keeps its base version, so a concurrent change is detected', async () => {
    const agent = await enter();
    const path = `/admin/applications/${client.id}`;
    const page = await agent.get(path);
    await agent.get('/oauth2/logout');
    const fields = { ...hiddenFields(page.body), client_name: 'Typed while idle' };
    const sent = await agent.post(path, fields);
    equal(
      (await app.admin('PATCH', `/clients/${client.id}`, { client_name: 'Saved by another' })).status,
      200,
    );
    const back = await signInAs(agent, 'root-admin', sent);
    equal(fieldIn(back, 'client_name'), 'Typed while idle');
    equal(hiddenFields(back.body).version, hiddenFields(page.body).version);
    const saved = await agent.post(path, {
      ...hiddenFields(back.body),
      client_name: 'Typed while idle',
      rotate_refresh_tokens: 'auto',
    });
    equal(saved.status, 412);
    match(saved.body, /was changed since you opened it/);
    equal((await app.admin('GET', `/clients/${client.id}`)).body.data.client_name, 'Saved by another');
  });

  test('passwords and secrets are not kept', async () => {
    const agent = await enter();
    const page = await agent.get('/admin/users/new');
    await agent.get('/oauth2/logout');
    const secret = 'four purple kites over Lisbon';
    const sent = await agent.post('/admin/users/new', {
      ...hiddenFields(page.body),
      username: 'typed-name',
      password: secret,
      client_secret: secret,
      smtp_url: secret,
    });
    ok(!JSON.stringify([...(await dumpAnyStore(app))]).includes(secret));
    const back = await signInAs(agent, 'root-admin', sent);
    equal(fieldIn(back, 'username'), 'typed-name');
    ok(!back.body.includes(secret));
  });

  test('sensitive form: asks for a fresh sign-in and returns filled in', async () => {
    const agent = await enter();
    const path = '/admin/api-keys/new';
    const page = await agent.get(path);
    for (const part of [300_500, 300_500]) {
      app.advance(part);
      equal((await agent.get('/admin')).status, 200);
    }
    const sent = await agent.post(path, { ...hiddenFields(page.body), name: 'Nightly backup', days: '30' });
    match(sent.location ?? '', /prompt=login/);
    // Whoever goes back instead is led to the form, too, as long as it is kept.
    const cancelled = await agent.follow(await agent.submit(await agent.follow(sent), { action: 'cancel' }));
    equal(cancelled.status, 200);
    match(cancelled.body, /href="http:\/\/127\.0\.0\.1:\d+\/admin\/api-keys\/new\?filled=filled~[^"]+"/);
    const again = await agent.get(`${path}?filled=1`);
    match(again.location ?? '', /prompt=login/);
    const back = await signInAs(agent, 'root-admin', again);
    equal(new URL(back.url).pathname, path);
    match(back.body, RESTORED);
    equal(fieldIn(back, 'name'), 'Nightly backup');
    equal(fieldIn(back, 'days'), '30');
    equal(await total('/api-keys'), 0);
    app.advance(-601_000);
  });

  test('button without a form: leads back to its page', async () => {
    const agent = await enter();
    const victim = await app.createUser('pressed', { email: 'pressed@example.com', is_email_verified: true });
    const page = await agent.get(`/admin/users/${victim.id}`);
    await agent.get('/oauth2/logout');
    const sent = await agent.post(`/admin/users/${victim.id}/send-password-reset`, {
      csrf: hiddenFields(page.body).csrf ?? '',
    });
    const back = await signInAs(agent, 'root-admin', sent);
    equal(new URL(back.url).pathname, `/admin/users/${victim.id}`);
    match(back.body, /Nothing was done yet: choose it once more/);
  });
});

suite('attacks on a kept form', () => {
  async function kept(): Promise<{ agent: Agent; sent: Page }> {
    const agent = await enter();
    const page = await agent.get('/admin/applications/new/web');
    await agent.get('/oauth2/logout');
    return {
      agent,
      sent: await agent.post('/admin/applications/new/web', { ...hiddenFields(page.body), ...typed }),
    };
  }

  test('another administrator in the same browser does not see it', async () => {
    const { agent, sent } = await kept();
    const back = await signInAs(agent, 'second-admin', sent);
    equal(new URL(back.url).pathname, '/admin/applications/new/web');
    ok(!back.body.includes('two.example'));
  });

  test('the same administrator in another browser does not see it', async () => {
    await kept();
    const other = await enter();
    const page = await other.get('/admin/applications/new/web?filled=1');
    equal(page.status, 200);
    ok(!page.body.includes('two.example'));
  });

  test('an hour later it is gone, and the page says so', async () => {
    const { agent, sent } = await kept();
    // Another person in this browser, who does not see it, and leaves.
    const { url } = await signInAs(agent, 'second-admin', sent);
    await agent.get('/oauth2/logout');
    app.advance(3_601_000);
    await signInAs(agent, 'root-admin', await agent.get('/admin'));
    const page = await agent.get(url.replace(app.url, ''));
    ok(!page.body.includes('two.example'));
    match(page.body, /could not be kept/);
    app.advance(-3_601_000);
  });

  test('planted by another site or without a CSRF token: nothing returns', async () => {
    const proofs: ((fields: Record<string, string>) => Record<string, string>)[] = [
      ({ csrf: _, ...rest }) => rest,
      (fields) => ({ ...fields, csrf: 'invented' }),
      (fields) => ({ ...fields, csrf: `x.y.${(fields.csrf ?? '').split('.').at(-1)}` }),
    ];
    for (const planted of proofs) {
      const agent = await enter();
      const page = await agent.get('/admin/applications/new/web');
      await agent.get('/oauth2/logout');
      const sent = await agent.post('/admin/applications/new/web', {
        ...planted(hiddenFields(page.body)),
        ...typed,
      });
      ok(!(await signInAs(agent, 'root-admin', sent)).body.includes('two.example'));
    }
    const agent = await enter();
    const page = await agent.get('/admin/applications/new/web');
    await agent.get('/oauth2/logout');
    const headers = {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    };
    const sent = await agent.post(
      '/admin/applications/new/web',
      { ...hiddenFields(page.body), ...typed },
      { headers },
    );
    equal(sent.status, 403);
    const again = await agent.get('/admin/applications/new/web');
    ok(!(await signInAs(agent, 'root-admin', again)).body.includes('two.example'));
  });

  test('sealed in the store, under no name that reveals its owner', async () => {
    await kept();
    const rows = JSON.stringify((await dumpAnyStore(app)).get('one_time'));
    ok(rows.length > 10);
    for (const word of ['two.example', 'applications', 'root-admin']) ok(!rows.includes(word), word);
  });

  test('sent repeatedly it takes one record per page', async () => {
    const agent = await enter();
    const page = await agent.get('/admin/applications/new/web');
    await agent.get('/oauth2/logout');
    const rows = async (): Promise<number> => (await dumpAnyStore(app)).get('one_time')?.length ?? 0;
    await agent.post('/admin/applications/new/web', { ...hiddenFields(page.body), ...typed });
    const count = await rows();
    for (let time = 0; time < 5; time += 1)
      await agent.post('/admin/applications/new/web', {
        ...hiddenFields(page.body),
        ...typed,
        name: `Name ${time}`,
      });
    equal(await rows(), count);
  });
});

suite('a person on their own account', () => {
  const NOTE = /<p class="note" role="status" id="restored">/;
  const profile = { given_name: 'Zoë "Z" <b>', nickname: 'zo', zoneinfo: 'Europe/Berlin' };
  let people = 0;

  async function atHome(path: string): Promise<{ agent: Agent; username: string; page: Page }> {
    people += 1;
    const { username } = await app.createUser(`person-${people}`, {
      email: `person-${people}@example.com`,
      is_email_verified: true,
    });
    const agent = new Agent(app);
    return { agent, username, page: await signInAs(agent, username, await agent.get(path)) };
  }

  test('signed out in another tab: what was typed is back after the sign-in, then saved', async () => {
    const { agent, username, page } = await atHome('/account/profile');
    await agent.get('/oauth2/logout');
    const sent = await agent.post('/account/profile', { ...hiddenFields(page.body), ...profile });
    const back = await signInAs(agent, username, sent);
    equal(new URL(back.url).pathname, '/account/profile');
    match(back.body, NOTE);
    equal(fieldIn(back, 'given_name'), 'Zoë &#34;Z&#34; &#60;b&#62;');
    match(back.body, /<option selected>Europe\/Berlin</);
    ok(!NOTE.test((await agent.get('/account/profile')).body), 'once');
    const done = await agent.post('/account/profile', { ...hiddenFields(back.body), ...profile });
    match(done.location ?? '', /notice=profile_changed/);
  });

  test('a session renewed by another tab: the page comes again, without the password', async () => {
    const { agent, page } = await atHome('/account/password');
    const profilePage = await agent.get('/account/profile');
    const words = {
      password: 'four purple kites over Lisbon',
      confirm_password: 'four purple kites over Lisbon',
    };
    const fields = { ...hiddenFields(page.body), current_password: PASSWORD, ...words };
    match((await agent.post('/account/password', fields)).location ?? '', /password_changed/);
    const twice = await agent.post('/account/password', { ...fields, current_password: words.password });
    const again = await agent.follow(twice);
    deepEqual([twice.status, new URL(again.url).pathname], [303, '/account/password']);
    match(again.body, NOTE);
    ok(!again.body.includes(words.password));
    const other = await agent.post('/account/profile', { ...hiddenFields(profilePage.body), ...profile });
    equal(fieldIn(await agent.follow(other), 'nickname'), 'zo');
  });

  test('an act that asks to confirm the sign-in: the address is back afterwards', async () => {
    const { agent, username, page } = await atHome('/account/email');
    app.advance(400_000);
    const sent = await agent.post('/account/email', {
      ...hiddenFields(page.body),
      email: 'next@example.net',
    });
    match(sent.location ?? '', /prompt=login/);
    const back = await signInAs(agent, username, sent);
    app.advance(-400_000);
    equal(new URL(back.url).pathname, '/account/email');
    equal(fieldIn(back, 'email'), 'next@example.net');
  });

  test('attack: another person in the same browser sees what was typed', async () => {
    const { agent, page } = await atHome('/account/profile');
    await agent.get('/oauth2/logout');
    const sent = await agent.post('/account/profile', { ...hiddenFields(page.body), ...profile });
    await app.createUser('somebody-else');
    const back = await signInAs(agent, 'somebody-else', sent);
    equal(new URL(back.url).pathname, '/account/profile');
    ok(!back.body.includes('Zoë'));
    ok(!NOTE.test(back.body));
  });

  test('attack: a form planted by another site, without the token of this browser', async () => {
    const { agent, username, page } = await atHome('/account/profile');
    const [, owner, id] = (hiddenFields(page.body).csrf ?? '').split('.');
    await agent.get('/oauth2/logout');
    const stranger = await atHome('/account/profile');
    const [, foreign] = (hiddenFields(stranger.page.body).csrf ?? '').split('.');
    for (const csrf of ['', `x.${foreign}.${id}`, `x.${owner}.someone`]) {
      const sent = await agent.post('/account/profile', { csrf, ...profile });
      const back = await signInAs(agent, username, sent);
      ok(!back.body.includes('Zoë'), csrf);
      await agent.get('/oauth2/logout');
    }
    // In the browser of somebody who is signed in, a foreign owner's part does not even lead to the page.
    const refused = await stranger.agent.post('/account/profile', { csrf: `x.${owner}.${id}`, ...profile });
    equal(refused.status, 403);
  });
});

suite('reload after a form', () => {
  // On the page of an application `token` is the address of an endpoint.
  const SECRET =
    /id="(?:client-secret|api-key|invitation-link)"[^>]*>([^<]+)<|id="token-label">Token<\/dt>\s*<dd><code[^>]*>([^<:]+)</;
  const secretIn = ({ body }: Page): string => SECRET.exec(body)?.slice(1).find(Boolean) ?? '';

  const cases: readonly [string, string, string, Record<string, string>, string][] = [
    [
      'an application',
      '/admin/applications/new/web',
      '/admin/applications/new/web',
      { name: 'New one', type: 'web', redirect_uris: 'https://new.example/cb' },
      '/clients',
    ],
    ['an API key', '/admin/api-keys/new', '/admin/api-keys/new', { name: 'Backup', days: '30' }, '/api-keys'],
    [
      'a registration token',
      '/admin/registration-tokens',
      '/admin/registration-tokens',
      { label: 'Partner', uses: '1', hours: '24' },
      '/initial-access-tokens',
    ],
    [
      'an invitation',
      '/admin/invitations',
      '/admin/invitations',
      { email: 'guest@example.com', days: '3' },
      '/invitations',
    ],
  ];
  for (const [name, path, action, fields, list] of cases)
    test(`creates no second one: ${name}; its secret is shown once, to its own session`, async () => {
      const agent = await enter();
      const other = await enter('second-admin');
      const count = Number(await total(list));
      const sent = await send(agent, path, action, fields);
      equal(sent.status, 303);
      equal(sent.body.includes('New one'), false);
      const address = sent.location ?? '';

      // The address alone opens nothing.
      equal(secretIn(await other.follow(await other.get(address))), '');
      equal(secretIn(await new Agent(app).get(address)), '');

      const shown = await agent.get(address);
      equal(shown.status, 200);
      match(shown.headers.get('cache-control') ?? '', /no-store/);
      const secret = secretIn(shown);
      notEqual(secret, '');
      ok(!address.includes(secret));
      ok(!JSON.stringify([...(await dumpAnyStore(app))]).includes(secret));
      ok(!app.logged.some((line) => line.includes(secret)));

      // What a reload does, and the back button.
      const reloaded = await agent.follow(await agent.get(address));
      equal(reloaded.status, 200);
      ok(!reloaded.body.includes(secret));
      equal(await total(list), count + 1);
    });

  test('rotates no second secret', async () => {
    const agent = await enter();
    const path = `/admin/applications/${client.id}/rotate-secret`;
    const sent = await send(agent, path, path, { overlap_hours: '0' });
    equal(sent.status, 303);
    notEqual(secretIn(await agent.get(sent.location ?? '')), '');
    const reloaded = await agent.follow(await agent.get(sent.location ?? ''));
    match(reloaded.body, /A secret is shown only once/);
  });

  test('the secret is gone after five minutes', async () => {
    const agent = await enter();
    const sent = await send(agent, '/admin/api-keys/new', '/admin/api-keys/new', { name: 'Late', days: '1' });
    app.advance(301_000);
    const page = await agent.follow(await agent.get(sent.location ?? ''));
    equal(secretIn(page), '');
    match(page.body, /A key is shown only once/);
    app.advance(-301_000);
  });

  test('imports nothing twice and sends no second test mail', async () => {
    const agent = await enter();
    const count = Number(await total('/users'));
    const rows = '{"username":"imported-one"}\n{"username":"x"}';
    const sent = await send(agent, '/admin/users/import', '/admin/users/import', { rows });
    equal(sent.status, 303);
    const shown = await agent.get(sent.location ?? '');
    match(shown.body, /imported-one/);
    match(shown.body, /&#34;x&#34;|&quot;x&quot;/);
    equal(await total('/users'), count + 1);
    const mail = await send(agent, '/admin/settings/mail', '/admin/settings/mail/server', {
      host: '127.0.0.1',
      port: '9',
      encryption: 'offered',
      to: 'a@example.com',
    });
    equal(mail.status, 303);
    const told = await agent.get(mail.location ?? '');
    match(told.body, /a@example\.com/);
  });

  test('repeats no bulk act', async () => {
    const agent = await enter();
    const one = await app.createUser('one-of-many');
    const asked = await send(agent, '/admin/users', '/admin/users/selected', {
      act: 'sign-out',
      [`user.${one.id}`]: 'on',
    });
    equal(asked.status, 200);
    const sent = await agent.post('/admin/users/selected/confirmed', hiddenFields(asked.body));
    equal(sent.status, 303);
    const shown = await agent.get(sent.location ?? '');
    match(shown.body, /one-of-many/);
    equal(new URL((await agent.follow(await agent.get(sent.location ?? ''))).url).pathname, '/admin/users');
  });
});

/** What a POST of the Admin UI answers with when it has done something. */
const ANSWERS: Readonly<Record<string, 'another page' | 'shown once' | 'does nothing'>> = {
  '/users/new': 'another page',
  // Asks before anything happens.
  '/users/selected': 'does nothing',
  '/users/selected/confirmed': 'shown once',
  '/users/import': 'shown once',
  '/users/import/csv': 'another page',
  '/users/import/csv/:id/stop': 'another page',
  '/users/import/csv/:id/continue': 'another page',
  '/invitations': 'shown once',
  '/invitations/many': 'shown once',
  '/invitations/:id/again': 'shown once',
  '/invitations/:id/withdraw': 'another page',
  '/users/:id/edit': 'another page',
  '/users/:id/devices/:device_id/revoke': 'another page',
  '/users/:id/passkeys/:passkey_id/remove': 'another page',
  '/users/:id/access/:client_id/take-back': 'another page',
  '/applications/new/:kind': 'shown once',
  // Answers the script of a form, and changes nothing.
  '/applications/check-redirect-uris': 'does nothing',
  '/applications/:id': 'another page',
  '/applications/:id/access': 'another page',
  '/applications/:id/rotate-secret': 'shown once',
  // Sends the browser to a sign-in in a tab of its own.
  '/applications/:id/try': 'another page',
  '/agents': 'another page',
  '/registration-tokens': 'shown once',
  '/registration-tokens/:id/withdraw': 'another page',
  '/apis/new': 'shown once',
  '/apis/:id': 'another page',
  '/apis/:id/scopes': 'another page',
  '/apis/:id/scopes/:scope': 'another page',
  '/apis/:id/scopes/:scope/remove': 'another page',
  '/apis/:id/machines': 'another page',
  '/apis/:id/delete': 'another page',
  '/apis/:id/rotate-secret': 'shown once',
  '/sessions/:id/end': 'another page',
  '/groups/new': 'another page',
  '/groups/:id/edit': 'another page',
  '/groups/:id/members': 'another page',
  '/groups/:id/members/:user_id/remove': 'another page',
  '/users/:id/groups': 'another page',
  '/users/:id/groups/:group_id/remove': 'another page',
  '/api-keys/new': 'shown once',
  '/tokens/:id/revoke': 'another page',
  '/keys/rotate': 'another page',
  '/keys/replace': 'another page',
  // The first step shows the difference; the second leads to the settings.
  '/settings/import': 'another page',
  '/settings/mail/server': 'shown once',
  '/settings/:group': 'another page',
  '/second-factor/later': 'another page',
  '/first-steps': 'another page',
  '/branding': 'another page',
  '/branding/texts': 'another page',
  '/applications/:id/looks/texts': 'another page',
  // Answer the script of the form, or show the form with its preview; nothing is changed.
  '/branding/draft': 'does nothing',
  '/branding/texts/draft': 'does nothing',
  '/branding/texts/preview': 'does nothing',
  '/applications/:id/looks/texts/draft': 'does nothing',
  '/applications/:id/looks/texts/preview': 'does nothing',
  '/branding/preview': 'does nothing',
  '/applications/:id/looks/draft': 'does nothing',
  '/applications/:id/looks/preview': 'does nothing',
  '/branding/mails/import': 'another page',
  '/branding/mails/restore': 'another page',
  '/branding/mails/:mail/:language': 'another page',
  '/branding/mails/:mail/:language/draft': 'does nothing',
  '/branding/mails/:mail/:language/preview': 'does nothing',
  // Sent again by a reload, to the administrator alone.
  '/branding/mails/:mail/:language/test': 'does nothing',
  '/branding/picture': 'another page',
  '/branding/remove-picture': 'another page',
  '/branding/restore': 'another page',
  '/branding/import': 'another page',
  '/applications/:id/looks/import': 'another page',
  '/applications/:id/looks/picture': 'another page',
  '/applications/:id/looks/remove-picture': 'another page',
  '/applications/:id/looks/restore': 'another page',
};

test('Admin UI forms: each declares what a reload after it does', () => {
  const acts = /^\/(?:users|applications|groups|api-keys)\/:id\/[a-z-]+$/;
  const posts = adminPages.filter(({ method }) => method === 'POST').map(({ path }) => path);
  // Acts on one thing all end in src/admin/pages/acts.ts, which leads on.
  const unknown = posts.filter((path) => ANSWERS[path] === undefined && !acts.test(path));
  deepEqual(unknown, []);
  deepEqual(
    Object.keys(ANSWERS).filter((path) => !posts.includes(path)),
    [],
  );
});
