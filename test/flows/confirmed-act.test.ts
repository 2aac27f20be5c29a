// Being asked again names the act and whom it is about, and no address made by others can put words there.
import { doesNotMatch, equal, match } from 'node:assert/strict';
import test, { after } from 'node:test';
import { adminPages } from '../../src/admin/console/page-list.ts';
import { purposeOfPage } from '../../src/admin/console/purpose.ts';
import { Agent, codeRequest, type Page } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';
import { Authenticator } from '../support/authenticator.ts';
import { goOn, makePasskey, originOf } from '../support/passkeys.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const grace = await app.createUser('grace', { name: 'Grace <i>Hopper' });
const client = await app.register({ client_name: 'Payroll' });
await app.createUser('root', { role: 'admin' });

async function enter(path: string, username = 'root'): Promise<{ agent: Agent; page: Page }> {
  const agent = new Agent(app);
  const page = await agent.follow(await agent.get(path));
  return { agent, page: await agent.submit(page, { username, password: PASSWORD }) };
}
const CONFIRM = /href="([^"]*prompt=login[^"]*)"/;
/** The page that the link leads to. */
async function followLink(agent: Agent, { body }: Page, link: RegExp): Promise<Page> {
  const [, href = ''] = link.exec(body) ?? [];
  return agent.follow(await agent.get(href.replaceAll('&amp;', '&').replaceAll('&#38;', '&')));
}
const titleOf = ({ body }: Page): string =>
  /<h1>([\s\S]*?)<\/h1>/
    .exec(body)?.[1]
    ?.replace(/<[^>]+>/g, '')
    .trim() ?? '';

test('re-authentication: names the act of the Admin UI, by the person’s or application’s name', async () => {
  const { agent } = await enter('/admin');
  app.advance(360_000);
  for (const [path, title] of [
    [`/users/${grace.id}/delete`, 'Confirm it’s you to delete Grace &#60;i&#62;Hopper'],
    [`/applications/${client.id}/rotate-secret`, 'Confirm it’s you to get a new secret for Payroll'],
    ['/keys/rotate', 'Confirm it’s you to change the signing keys'],
    ['/users/00000000-0000-4000-8000-000000000000/delete', 'Confirm it’s you'],
  ] as const) {
    const page = await agent.follow(await agent.get(`/admin${path}`));
    equal(titleOf(page), title, path);
  }
  // A wrong password leaves it said.
  const page = await agent.follow(await agent.get(`/admin/users/${grace.id}/delete`));
  const wrong = await agent.submit(page, { username: 'root', password: 'not the password at all' });
  equal(wrong.status, 401);
  match(titleOf(wrong), /to delete Grace/);
});

test('re-authentication: names the act of self-service, the passkey first', async () => {
  await app.createUser('ida');
  const { agent } = await enter('/account/passkeys', 'ida');
  const key = new Authenticator({ origin: originOf(app) });
  const own = await agent.get('/account/passkeys');
  match(own.body, /Add a passkey/);
  const offered = await agent.follow(await agent.get('/oauth2/logout'));
  equal(offered.status, 200);
  const fresh = new Agent(app);
  const signIn = await fresh.follow(await fresh.get('/account/delete'));
  const offer = await fresh.submit(signIn, { username: 'ida', password: PASSWORD, can_passkey: 'on' });
  await goOn(fresh, await makePasskey(fresh, offer, key));
  app.advance(360_000);
  const shown = await fresh.get('/account/delete');
  const page = await followLink(fresh, shown, CONFIRM);
  equal(titleOf(page), 'Confirm it’s you to delete your account');
  match(page.body, /data-passkey="sign_in"[\s\S]*id="password"/);
});

test('re-authentication: names no act where only a second step became due', async () => {
  await app.createUser('lena');
  const { agent } = await enter('/account', 'lena');
  equal((await app.admin('PATCH', '/settings', { mfa_mode: 'required' })).status, 200);
  const due = await agent.follow(await agent.get('/account'));
  equal((await app.admin('PATCH', '/settings', { mfa_mode: 'optional' })).status, 200);
  match(due.body, /name="password"/);
  equal(titleOf(due), 'Confirm it’s you');
});

test('re-authentication: no offer to create an account, which who is signed in has', async () => {
  equal((await app.admin('PATCH', '/settings', { allow_self_signup: true })).status, 200);
  try {
    await app.createUser('olga');
    const signUp = /\/oauth2\/signup/;
    const fresh = new Agent(app);
    match((await fresh.follow(await fresh.get('/account'))).body, signUp, 'a sign-in offers it');
    const { agent } = await enter('/account/delete', 'olga');
    app.advance(360_000);
    const shown = await agent.get('/account/delete');
    const page = await followLink(agent, shown, CONFIRM);
    equal(titleOf(page), 'Confirm it’s you to delete your account');
    doesNotMatch(page.body, signUp);
    const wrong = await agent.submit(page, { username: 'olga', password: 'not the password at all' });
    equal(wrong.status, 401);
    doesNotMatch(wrong.body, signUp);
    // An application's own demand for a fresh sign-in.
    const asked = await agent.authorize({ ...codeRequest(client.id), prompt: 'login' });
    match(titleOf(asked), /Confirm it’s you/);
    doesNotMatch(asked.body, signUp);
    // Somebody else at this browser may have none yet.
    match((await followLink(agent, asked, /href="([^"]*)">Not you/)).body, signUp);
  } finally {
    await app.admin('PATCH', '/settings', { allow_self_signup: false });
  }
});

test('attack: an address that puts an act and a name on an administrator’s sign-in page', async () => {
  const { agent } = await enter('/admin');
  app.advance(360_000);
  const started = await agent.get(`/admin/users/${grace.id}/delete`);
  const address = new URL(started.location ?? '', app.url);
  const state = address.searchParams.get('state') ?? '';
  const [random = '', act = '', target = '', token = ''] = state.split('~');
  equal(act, 'user_delete');
  for (const forged of [
    [random, 'client_delete', target, token],
    [random, act, client.id, token],
    ['x', act, target, token],
    [random, act, target, ''],
    [random, act, target],
    [random, act, `${target}~`, token],
    [random, 'toString', target, token],
    [random, act, '%E0%A4%A', token],
  ]) {
    address.searchParams.set('state', forged.join('~'));
    const page = await agent.follow(await agent.get(`${address.pathname}${address.search}`));
    equal(titleOf(page), 'Confirm it’s you', forged.join('~'));
    doesNotMatch(page.body, /Grace/);
  }
  // What was written for this browser says nothing in another.
  address.searchParams.set('state', state);
  const other = await enter('/admin');
  const page = await other.agent.follow(await other.agent.get(`${address.pathname}${address.search}`));
  equal(titleOf(page), 'Confirm it’s you');
});

test('Admin UI: the purpose of every page that may ask again has words', () => {
  for (const page of adminPages) {
    const { act, target } = purposeOfPage(page, `/admin${page.path.replaceAll(/:\w+/g, 'some%20id')}`);
    equal(/^(?:user|client|api)_(?!keys)/.test(act), target !== undefined, page.path);
    if (target !== undefined) equal(target, 'some id');
  }
});
