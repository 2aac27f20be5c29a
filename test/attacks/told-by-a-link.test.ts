// A link that makes a page of ours say that something was done ("Password changed"), though nothing was: pages say it only after the
// act, in the browser in which it was done.
import { deepEqual, doesNotMatch, match, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newPerson, open, press } from '../flows/account-support.ts';
import { Agent, type Page } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';

let app: TestApp;

before(async () => {
  app = await startApp();
});
after(() => app.stop());

/** What the page says in its bars, without tags. */
const barsOf = ({ body }: Page): string[] =>
  [
    ...body.matchAll(
      /<(?:div|p|section)[^>]*(?:role="(?:status|alert)"|class="notice[^"]*")[^>]*>(.*?)<\/(?:div|p|section)>/gs,
    ),
  ]
    .map(([, inner = '']) =>
      inner
        .replaceAll(/<[^>]*>/g, ' ')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    )
    .filter(Boolean);

const ACCOUNT = {
  '/account': ['password_changed', 'password_set', 'sessions_ended', 'session_ended', 'app_removed'],
  '/account/profile': ['picture_changed', 'picture_removed'],
  '/account/email': ['sent', 'kept', 'added', 'primary', 'removed', 'withdrawn'],
  '/account/password': ['reported'],
  '/account/second-factor': ['app_on', 'app_replaced', 'app_off', 'email_on', 'email_off'],
  '/account/passkeys': ['added', 'renamed', 'removed', 'reported'],
};

test('attack: a link says on an account page that something was done', async () => {
  const user = await newPerson(app);
  const browser = new Agent(app);
  await open(browser, user);
  for (const [path, names] of Object.entries(ACCOUNT)) {
    const plain = barsOf(await browser.get(path));
    for (const name of names) {
      deepEqual(barsOf(await browser.get(`${path}?notice=${name}`)), plain, `${path} ${name}`);
    }
  }
});

test('attack: the address after an act, opened elsewhere, later, or on another page', async () => {
  const user = await newPerson(app);
  const browser = new Agent(app);
  const page = await open(browser, user, '/account/profile');
  const done = await press(browser, page, '/account/profile', { name: 'Someone Else' });
  const said = barsOf(done);
  ok(said.length > 0, done.body.slice(0, 400));
  const address = done.url.slice(done.url.indexOf('/account'));
  match(address, /\?notice=[a-z_]+~/);
  deepEqual(barsOf(await browser.get(address)), said, 'a reload');
  const elsewhere = new Agent(app);
  const plain = barsOf(await open(elsewhere, user));
  deepEqual(barsOf(await elsewhere.get(address)), plain, 'their other browser');
  const [path = '', query = ''] = address.split('?');
  for (const changed of [
    `${path}?${query.replace(/[a-z_]+~/, 'password_changed~')}`,
    `${path}?${query.slice(0, -2)}`,
    `/account/email?${query.replace(/[a-z_]+~/, 'added~')}`,
  ])
    deepEqual(
      barsOf(await browser.get(changed)),
      barsOf(await browser.get(changed.split('?')[0] ?? '')),
      changed,
    );
  app.advance(601_000);
  deepEqual(barsOf(await browser.get(address)), barsOf(await browser.get(path)), 'a bookmark');
});

test('attack: a link says in the Admin UI that something was done, or was not', async () => {
  const { id } = await app.createUser('root-admin', { role: 'admin' });
  const admin = new Agent(app);
  await admin.submit(await admin.follow(await admin.get('/admin')), {
    username: 'root-admin',
    password: PASSWORD,
  });
  for (const [path, query] of [
    ['/admin/users', 'done=user-deleted'],
    [`/admin/users/${id}`, 'done=user-password'],
    [`/admin/users/${id}`, 'done=user-reset-queued.abc'],
    [`/admin/users/${id}`, 'done=user-reset-kept.abc'],
    ['/admin/settings', 'done=settings-saved'],
    ['/admin/keys', 'done=key-replaced'],
    [`/admin/users/${id}/edit`, 'filled=1'],
    ['/admin/groups/new', 'filled=1'],
  ] as const) {
    const page = await admin.get(`${path}?${query}`);
    deepEqual(barsOf(page), barsOf(await admin.get(path)), `${path}?${query}`);
    doesNotMatch(page.body, /was not done and could not be kept/);
  }
});
