// Every page that ends something continues somewhere (decision 0001): the bare address, sign-in and sign-up opened directly,
// expired links and pages, errors, signing out.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import * as model from '../../src/store/collections.ts';
import { Agent, codeRequest, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp } from '../support/app.ts';
import { openMailbox } from '../support/mailbox.ts';
import { type WayOn, waysOn } from '../support/way-on.ts';

const BASE = '/auth';
const app = await startApp({ path: BASE });
const mailbox = await openMailbox(app);
after(async () => {
  await app.stop();
  await mailbox.close();
});

const at = (path: string): string => `${app.url}${path}`;
const pathOf = ({ location = 'about:blank' }: Page): string => {
  const url = new URL(location);
  return url.href.slice(url.origin.length);
};
const firstWay = (page: Page): WayOn => {
  // The link for the developer, within the sentence that says what is wrong, is no way on.
  const ways = waysOn(page.body).filter(({ url }) => !url?.includes('/admin/applications'));
  const [first = { label: 'none', url: undefined }] = ways;
  return first;
};
const titleOf = ({ body }: Page): string => /<title>([^<]*) ·/.exec(body)?.[1] ?? '';

// Before anyone else exists.
const onboarding = new Agent(app);
const beforeOnboarding = await onboarding.get(at('/'));
const adminBeforeOnboarding = await onboarding.get(at('/admin/settings'));
const onboarded = await onboarding.submit(beforeOnboarding, {
  username: 'root-admin',
  password: PASSWORD,
  confirm_password: PASSWORD,
});
await app.createUser('reader', { role: 'auditor' });
const person = await app.createUser('alice', { email: 'alice@example.com', is_email_verified: true });

const withStart = await app.register({
  client_name: 'Has a start',
  initiate_login_uri: 'https://start.example/login?from=idp',
  client_uri: 'https://start.example/about',
});
const withPage = await app.register({ client_name: 'Has a page', client_uri: 'https://page.example/' });
const withNothing = await app.register({ client_name: 'Has neither' });
const native = await app.register({
  client_name: 'Phone app',
  application_type: 'native',
  token_endpoint_auth_method: 'none',
  redirect_uris: ['com.example.app:/callback'],
});

async function signedIn(username: string): Promise<Agent> {
  const agent = new Agent(app);
  await agent.submit(await agent.follow(await agent.get(at('/account'))), { username, password: PASSWORD });
  return agent;
}

suite('the bare address', () => {
  test('before onboarding: the onboarding page', () => {
    equal(beforeOnboarding.status, 200);
    match(beforeOnboarding.body, /name="confirm_password"/);
  });

  test('before onboarding: the Admin UI leads there, since no user can sign in', () => {
    deepEqual([adminBeforeOnboarding.status, pathOf(adminBeforeOnboarding)], [303, `${BASE}/onboard`]);
  });

  test('onboarding signs in: the account has the time, the browser is known', async () => {
    match(onboarded.url, new RegExp(`${BASE}/admin$`));
    const { body } = await app.admin('GET', '/users?search=root-admin');
    const [{ last_login_at: at = null, id = '' } = {}] = body.data.items ?? [];
    ok(Math.abs(Date.now() - Date.parse(String(at))) < 600_000, `last_login_at is ${String(at)}`);
    equal((await app.store.collection(model.accounts).find(String(id)))?.value.knownBrowsers?.length, 1);
  });

  test('after onboarding: a stranger comes to /account, which asks for sign-in', async () => {
    const agent = new Agent(app);
    const page = await agent.get(at('/'));
    deepEqual([page.status, pathOf(page)], [303, `${BASE}/account`]);
    match((await agent.follow(page)).body, /name="password"/);
  });

  for (const [username, target] of [
    ['alice', '/account'],
    ['root-admin', '/admin'],
    ['reader', '/admin'],
  ] as const)
    test(`after onboarding: ${username} comes to ${target}`, async () => {
      const page = await (await signedIn(username)).get(at('/'));
      deepEqual([page.status, pathOf(page)], [303, `${BASE}${target}`]);
    });

  test('onboarding stays closed, with a link to the start page', async () => {
    for (const path of ['/onboard', '/oauth2/onboard']) {
      const page = await new Agent(app).get(at(path));
      equal(page.status, 404, path);
      deepEqual(firstWay(page), { label: 'Go to the start page', url: `${BASE}/` }, path);
    }
  });
});

suite('opened without an application', () => {
  test('/oauth2/login: starts a sign-in to /account', async () => {
    const agent = new Agent(app);
    const page = await agent.get(at('/oauth2/login'));
    equal(page.status, 303);
    const form = await agent.follow(page);
    const done = await agent.submit(form, { username: 'alice', password: PASSWORD });
    deepEqual([done.status, new URL(done.url).pathname], [200, `${BASE}/account`]);
  });

  test('/oauth2/signup: the sign-up page where allowed, leading to /account', async () => {
    equal((await app.admin('PATCH', '/settings', { allow_self_signup: true })).status, 200);
    const agent = new Agent(app);
    const form = await agent.follow(await agent.get(at('/oauth2/signup')));
    equal(form.status, 200);
    match(form.body, /action="\/auth\/oauth2\/signup"/);
    const answers = { username: 'first-run', password: PASSWORD, confirm_password: PASSWORD };
    const mailed = await agent.submit(form, { ...answers, email: 'newcomer@example.com' });
    equal((await app.admin('PATCH', '/settings', { allow_self_signup: false })).status, 200);
    equal(mailed.status, 200, titleOf(mailed));
  });

  test('/signup: as /oauth2/signup', async () => {
    const agent = new Agent(app);
    const page = await agent.get(at('/signup'));
    equal(page.status, 303);
    match((await agent.follow(page)).body, /name="password"/);
  });

  test('/.well-known/change-password: at the root of the host, to the page (W3C)', async () => {
    const agent = await signedIn('alice');
    const page = await agent.get(new URL('/.well-known/change-password', app.url).href);
    deepEqual([page.status, pathOf(page)], [303, `${BASE}/account/password`]);
    equal(page.headers.get('cache-control'), 'no-store');
    match((await agent.follow(page)).body, /autocomplete="new-password"/);
  });

  test('/.well-known/webfinger: this issuer for the set domains, people or not (RFC 7033)', async () => {
    const issuer = 'http://openid.net/specs/connect/1.0/issuer';
    await app.admin('PATCH', '/settings', { webfinger_domains: 'example.com *.sub.example münchen.example' });
    const ask = async (query: string) => {
      const answer = await fetch(`${new URL(app.url).origin}/.well-known/webfinger${query}`);
      const { headers } = answer;
      equal(headers.get('access-control-allow-origin'), '*', query);
      const body: unknown = await answer.json();
      return { status: answer.status, type: headers.get('content-type'), body };
    };
    const links = [{ rel: issuer, href: at('/oauth2') }];
    const found = [
      'acct:alice@example.com',
      'acct:nobody@EXAMPLE.com',
      'acct:x%2Bbob@a.sub.example',
      'acct:eve@München.example',
    ];
    for (const subject of found) {
      const resource = `?resource=${encodeURIComponent(subject)}`;
      for (const rel of [
        '',
        `&rel=${encodeURIComponent(issuer)}`,
        `&rel=other&rel=${encodeURIComponent(issuer)}`,
      ])
        deepEqual(await ask(resource + rel), {
          status: 200,
          type: 'application/jrd+json',
          body: { subject, links },
        });
      deepEqual((await ask(`${resource}&rel=avatar`)).body, { subject, links: [] });
    }
    const refused: readonly (readonly [query: string, status: number])[] = [
      ['?resource=acct%3Aalice%40example.net', 404],
      ['?resource=acct%3Aalice%40sub.example', 404],
      ['?resource=https%3A%2F%2Fexample.com%2Falice', 404],
      ['?resource=acct%3A%40example.com', 404],
      ['', 400],
      ['?resource=', 400],
      ['?resource=acct%3Aa%40example.com&resource=acct%3Ab%40example.com', 400],
    ];
    for (const [query, status] of refused) equal((await ask(query)).status, status, query);
    await app.admin('PATCH', '/settings', { webfinger_domains: '' });
    equal((await ask('?resource=acct%3Aalice%40example.com')).status, 404);
  });

  test('/oauth2/signup: the sign-in page where sign-up is closed', async () => {
    const agent = new Agent(app);
    const form = await agent.follow(await agent.get(at('/oauth2/signup')));
    equal(form.status, 200);
    match(form.body, /action="\/auth\/oauth2\/login"/);
    const done = await agent.submit(form, { username: 'alice', password: PASSWORD });
    equal(new URL(done.url).pathname, `${BASE}/account`);
  });

  test('both: a signed-in user comes to the account', async () => {
    const agent = await signedIn('alice');
    for (const path of ['/oauth2/login', '/oauth2/signup'])
      equal(pathOf(await agent.get(at(path))), `${BASE}/account`, path);
  });
});

suite('an expired page', () => {
  const stale = (client: { id: string }) =>
    new Agent(app).get(
      at(`/oauth2/login?${new URLSearchParams({ interaction: 'gone', client_id: client.id })}`),
    );

  for (const [name, client, way] of [
    [
      'the address that starts its sign-in',
      withStart,
      {
        label: 'Back to Has a start',
        url: `https://start.example/login?from=idp&iss=${encodeURIComponent(app.issuer)}`,
      },
    ],
    ['its page', withPage, { label: 'Back to Has a page', url: 'https://page.example/' }],
    ['its origin', withNothing, { label: 'Back to Has neither', url: 'https://rp.example/' }],
    ['the sign-in, where it has no page', native, { label: 'Sign in', url: `${BASE}/oauth2/login` }],
    ['the sign-in, where it is unknown', { id: 'nobody' }, { label: 'Sign in', url: `${BASE}/oauth2/login` }],
    [
      'the start page, where it is our own',
      { id: 'latchkey-admin' },
      { label: 'Back to Latchkey', url: `${BASE}/` },
    ],
  ] as const)
    test(`leads back to the application: ${name}`, async () => {
      const page = await stale(client);
      deepEqual([page.status, titleOf(page)], [400, 'This page has expired']);
      deepEqual(firstWay(page), way);
    });

  test('continues from every step of a sign-in, by address', async () => {
    for (const step of ['login', 'signup', 'signup/verify', 'consent', 'mfa', 'recover']) {
      const page = await new Agent(app).get(at(`/oauth2/${step}?interaction=gone`));
      equal(titleOf(page), 'This page has expired', step);
      deepEqual(firstWay(page), { label: 'Sign in', url: `${BASE}/oauth2/login` }, step);
    }
  });

  test('attack: an address planted in the request becomes a link', async () => {
    const query = new URLSearchParams({
      interaction: 'gone',
      client_id: 'https://evil.example/',
      redirect_uri: 'https://evil.example/',
    });
    const { body } = await new Agent(app).get(at(`/oauth2/login?${query}`));
    ok(!body.includes('evil.example'));
  });
});

suite('e-mail links', () => {
  for (const [name, path, what, way] of [
    [
      'to a new password',
      '/oauth2/reset-password',
      'link for a new password',
      ['Get a new link', '/oauth2/forgot-password'],
    ],
    [
      'to confirm an address',
      '/oauth2/verify-email',
      'confirmation link',
      ['Go to your account', '/account'],
    ],
    ['to sign in', '/oauth2/magic-link', 'sign-in link', ['Sign in', '/oauth2/login']],
    ['to set up an account', '/oauth2/enrol', 'set-up link', ['Sign in', '/oauth2/login']],
    ['of an invitation', '/oauth2/signup', 'invitation', ['Sign in', '/oauth2/login']],
  ] as const)
    test(`expired link ${name}: continues`, async () => {
      const page = await new Agent(app).get(at(`${path}?token=used-or-invented`));
      deepEqual([page.status, titleOf(page)], [410, `This ${what} is no longer valid`]);
      const [label, target] = way;
      deepEqual(firstWay(page), { label, url: `${BASE}${target}` });
    });

  async function reset(agent: Agent, asked: Page): Promise<Page> {
    await agent.submit(asked, { email: 'alice@example.com' });
    const link = await mailbox.linkTo('alice@example.com');
    return agent.submit(await agent.get(link), { password: PASSWORD, confirm_password: PASSWORD });
  }

  test('password reset out of a sign-in: returns there and completes at the application', async () => {
    const agent = new Agent(app);
    const login = await agent.authorize({ ...codeRequest(withPage.id), state: 'kept' });
    const interaction = hiddenFields(login.body).interaction ?? '';
    const forgot = await agent.get(at(`/oauth2/forgot-password?interaction=${interaction}`));
    const done = await reset(agent, forgot);
    equal(titleOf(done), 'Password changed');
    const { label, url = '' } = firstWay(done);
    equal(label, 'Sign in to Has a page');
    const again = await agent.get(new URL(url, app.url).href);
    const end = await agent.submit(again, { username: person.username, password: PASSWORD });
    const answer = new URL(end.location ?? 'about:blank');
    deepEqual(
      [`${answer.origin}${answer.pathname}`, answer.searchParams.get('state')],
      [REDIRECT_URI, 'kept'],
    );
  });

  test('password reset in another browser or without a sign-in: leads to the sign-in', async () => {
    const asking = new Agent(app);
    const login = await asking.authorize(codeRequest(withPage.id));
    const interaction = hiddenFields(login.body).interaction ?? '';
    await asking.submit(await asking.get(at(`/oauth2/forgot-password?interaction=${interaction}`)), {
      email: 'alice@example.com',
    });
    const other = new Agent(app);
    const link = await mailbox.linkTo('alice@example.com');
    const done = await other.submit(await other.get(link), {
      password: PASSWORD,
      confirm_password: PASSWORD,
    });
    deepEqual(firstWay(done), { label: 'Sign in', url: `${BASE}/oauth2/login` });

    const alone = new Agent(app);
    const plain = await reset(alone, await alone.get(at('/oauth2/forgot-password')));
    deepEqual(firstWay(plain), { label: 'Sign in', url: `${BASE}/oauth2/login` });
  });

  test('confirmed address: leads to the account', async () => {
    const user = await app.createUser('bob', { email: 'bob@example.com' });
    equal((await app.admin('POST', `/users/${user.id}/send-email-verification`)).status, 200);
    const agent = new Agent(app);
    const done = await agent.submit(await agent.get(await mailbox.linkTo('bob@example.com')), {});
    deepEqual(firstWay(done), { label: 'Go to your account', url: `${BASE}/account` });
  });
});

suite('reload after a form', () => {
  const doneOf = (page: Page): string => new URL(page.location ?? 'about:blank').pathname;

  test('sends no second mail and shows the entered address to this browser only', async () => {
    const agent = new Agent(app);
    const form = await agent.get(at('/oauth2/forgot-password'));
    const requests = async (): Promise<number> =>
      (await app.store.collection(model.mailRequests).query({ sort: 'id', order: 'asc', limit: 100 })).items
        .length;
    const count = await requests();
    const typed = { ...hiddenFields(form.body), email: 'nobody@example.com' };
    const sent = await agent.post(at('/oauth2/forgot-password'), typed);
    deepEqual([sent.status, doneOf(sent)], [303, `${BASE}/oauth2/forgot-password`]);
    const address = sent.location ?? '';
    ok(!address.includes('nobody'));
    ok(!(await new Agent(app).get(address)).body.includes('nobody@example.com'));
    match((await agent.get(address)).body, /nobody@example\.com/);
    const again = await agent.get(address);
    match(again.body, /name="email"/);
    ok(!again.body.includes('nobody@example.com'));
    ok((await requests()) <= count + 1);
  });

  test('continues after a changed password and a confirmed address', async () => {
    for (const [path, target] of [
      ['/oauth2/reset-password', '/oauth2/login'],
      ['/oauth2/verify-email', '/account'],
      ['/oauth2/enrol', '/account'],
      ['/oauth2/signup', '/account'],
    ] as const) {
      const page = await new Agent(app).get(at(`${path}?done=seen-or-invented`));
      deepEqual([page.status, pathOf(page)], [303, `${BASE}${target}`], path);
    }
  });
});

suite('signing out', () => {
  for (const [name, query, way] of [
    [
      'of an application leads back to it',
      `?client_id=${withPage.id}`,
      ['Back to Has a page', 'https://page.example/'],
    ],
    [
      'of an application without a page leads to its origin',
      `?client_id=${withNothing.id}`,
      ['Back to Has neither', 'https://rp.example/'],
    ],
    ['without an application leads to the sign-in', '', ['Sign in', `${BASE}/oauth2/login`]],
  ] as const)
    test(name, async () => {
      const page = await new Agent(app).get(at(`/oauth2/logout${query}`));
      const [label, url] = way;
      equal(titleOf(page), 'You’re signed out');
      deepEqual(firstWay(page), { label, url });
    });
});

suite('errors', () => {
  const form = (path: string) => new Agent(app).post(at(path), { csrf: 'invented', client_id: withPage.id });

  for (const [name, ask, way] of [
    ['no such address', () => new Agent(app).get(at('/nothing/here')), ['Go to the start page', `${BASE}/`]],
    [
      'no such address of the account',
      () => new Agent(app).get(at('/account/nothing')),
      ['Go to your account', `${BASE}/account`],
    ],
    [
      'a redirect URI that is not registered',
      () => new Agent(app).authorize({ ...codeRequest(withPage.id), redirect_uri: 'https://evil.example/' }),
      ['Back to Has a page', 'https://page.example/'],
    ],
    [
      'no such application',
      () => new Agent(app).authorize(codeRequest('nobody')),
      ['Go to the start page', `${BASE}/`],
    ],
    ['cookies off at the sign-in', () => form('/oauth2/login'), ['Try again', 'https://page.example/']],
    [
      'cookies off at a forgotten password',
      () => form('/oauth2/forgot-password'),
      ['Try again', `${BASE}/oauth2/forgot-password`],
    ],
    [
      'cookies off at signing out',
      async () => (await signedIn('alice')).post(at('/oauth2/logout'), { csrf: 'invented' }),
      ['Try again', `${BASE}/oauth2/logout`],
    ],
    [
      'the wrong method',
      () => new Agent(app).request(at('/account'), { method: 'DELETE' }),
      ['Go to your account', `${BASE}/account`],
    ],
    [
      'an address like another host’s',
      () => new Agent(app).get(`${new URL(app.url).origin}/auth//evil.example/`),
      ['Go to the start page', `${BASE}/`],
    ],
  ] as const)
    test(`${name}: the page continues`, async () => {
      const page = await ask();
      ok(page.status >= 400, String(page.status));
      const [label, url] = way;
      deepEqual(firstWay(page), { label, url }, titleOf(page));
    });

  test('Admin UI without the role: refused, with a sign-out button', async () => {
    const agent = await signedIn('alice');
    const page = await agent.follow(await agent.get(at('/admin')));
    equal(page.status, 403);
    equal(firstWay(page).label, 'Sign out');
  });

  test('unknown address of the Admin UI: links to its overview', async () => {
    const agent = await signedIn('root-admin');
    const page = await agent.follow(await agent.get(at('/admin/nothing')));
    equal(page.status, 404);
    const back = waysOn(page.body).filter(({ label }) => label === 'Back to the overview');
    deepEqual(back, [{ label: 'Back to the overview', url: `${BASE}/admin` }]);
  });
});
