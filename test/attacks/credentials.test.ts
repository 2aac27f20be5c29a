// The table of credentials (credential-table.ts) is complete and true: each is tried at each act that changes how somebody signs
// in, before and after its holder's authentication is five minutes old, and every place in the source that reads, compares or looks up
// a secret is in it.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { createLinks, type LinkPurpose } from '../../src/recovery/links.ts';
import * as model from '../../src/store/collections.ts';
import { open, press } from '../flows/account-support.ts';
import { bearer, call, change, postForm, requestTokensOf, tokensOf, type User } from '../flows/support.ts';
import { Agent } from '../support/agent.ts';
import { ADMIN_TOKEN, opensAccounts, PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { type Mailbox, openMailbox, tokenIn } from '../support/mailbox.ts';
import { createPhone } from '../support/phone.ts';
import { DEVICE_GRANT } from '../support/television.ts';
import {
  CREDENTIALS,
  type Credential,
  OTHER_SECRETS,
  SIGN_IN_ACTS,
  type SignInAct,
} from './credential-table.ts';

type Id = keyof typeof CREDENTIALS;
const table: Readonly<Record<Id, Credential>> = CREDENTIALS;
const STALE_MS = 301_000;
const JSON_TYPE = { 'content-type': 'application/json' };

let app: TestApp;
let mailbox: Mailbox;
let victim: User;
let registered: string;

/** What each act is tried by, with a bearer: nothing that it would leave behind matters. */
const bearerActs: Readonly<
  Partial<Record<SignInAct, () => readonly [method: string, path: string, body?: object]>>
> = {
  own_factors: () => ['POST', '/account/api/totp'],
  own_password: () => ['PUT', '/account/api/password', { password: 'short', current_password: PASSWORD }],
  own_addresses: () => ['POST', '/account/api/email', { email: 'nonsense' }],
  others: () => ['POST', `/admin/api/users/${victim.id}/reset-mfa`],
  applications: () => ['POST', '/admin/api/clients', { redirect_uris: 1 }],
  settings: () => ['PATCH', '/admin/api/settings', { mfa_mode: 'nonsense' }],
  new_application: () => ['POST', '/oauth2/register', { redirect_uris: 1 }],
  one_application: () => ['GET', `/oauth2/register/${registered}`],
};

/** @returns the acts that this bearer may do now */
async function openTo(token: string): Promise<SignInAct[]> {
  const allowed: SignInAct[] = [];
  for (const [act, request] of Object.entries(bearerActs)) {
    const [method, path, body] = request();
    const headers = { ...bearer(token), ...(body !== undefined && JSON_TYPE) };
    const init = { headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const { status, text } = await call(app, method, path, init);
    ok(status < 500, `${act}: ${text}`);
    const known = Object.keys(SIGN_IN_ACTS).find((one): one is SignInAct => one === act);
    if (status !== 401 && status !== 403 && known !== undefined) allowed.push(known);
  }
  return allowed;
}

/** Those of the table's acts that a bearer can be tried at. */
const bearersPartOf = (id: Id): SignInAct[] =>
  table[id].may.filter((act) => Object.hasOwn(bearerActs, act)).toSorted();

const BEARERS = [
  'account_token',
  'reading_account_token',
  'plain_token',
  'administrator_token',
  'machine_token',
  'api_key',
  'bootstrap_token',
  'initial_access_token',
  'registration_token',
] as const satisfies readonly Id[];

const bearers: Partial<Record<Id, string>> = {};
/** The secrets of the others, which are brought as bearers, too. */
const others: Partial<Record<Id, string>> = {};
const PAGELESS: string[] = [];

async function createBearers(): Promise<void> {
  const ann = await app.createUser('ann');
  const root = await app.createUser('root', { role: 'admin' });
  const GRANTS = ['authorization_code', 'refresh_token', 'client_credentials', 'password'];
  const scope = `${opensAccounts.scope} account:read admin`;
  const tool = await app.register({ scope, grant_types: GRANTS });
  const of = async (who: User, asked: string) =>
    (await tokensOf(app, tool, who, { scope: asked })).access_token;
  bearers.account_token = await of(ann, 'openid account');
  bearers.reading_account_token = await of(ann, 'openid account:read');
  bearers.plain_token = await of(ann, 'openid profile email');
  bearers.administrator_token = await of(root, 'openid admin');
  const asMachine = { grant_type: 'client_credentials', scope: 'admin account' };
  bearers.machine_token = (await requestTokensOf(app, tool, asMachine)).access_token;
  const key = await app.admin('POST', '/api-keys', { name: 'all', scopes: ['admin'] });
  bearers.api_key = String(key.body.data.api_key);
  bearers.bootstrap_token = ADMIN_TOKEN;
  const initial = await app.admin('POST', '/initial-access-tokens', { label: 'one', uses: 50 });
  bearers.initial_access_token = String(initial.body.data.token);
  const made = await call(app, 'POST', '/oauth2/register', {
    headers: { ...bearer(bearers.initial_access_token), ...JSON_TYPE },
    body: JSON.stringify({ redirect_uris: ['https://rp.example/callback'] }),
  });
  registered = String(made.body.client_id);
  bearers.registration_token = String(made.body.registration_access_token);
  // Of grants without pages, by first-party applications: plain tokens, whatever was asked for.
  const byPassword = { grant_type: 'password', username: 'ann', password: PASSWORD, scope };
  PAGELESS.push((await requestTokensOf(app, tool, byPassword)).access_token);
  const device = await app.register({
    scope,
    grant_types: [DEVICE_GRANT],
    response_types: [],
    redirect_uris: [],
    token_endpoint_auth_method: 'none',
  });
  const asked = { client_id: device.id, scope };
  const { body: codes } = await postForm(app, '/oauth2/device_authorization', asked);
  const agent = new Agent(app);
  const form = await agent.get('/oauth2/device');
  const question = await agent.submit(form, { user_code: String(codes.user_code) });
  const page = await agent.submit(question, { confirm: 'yes' });
  await agent.submit(page, { username: 'root', password: PASSWORD });
  const fields = { client_id: device.id, grant_type: DEVICE_GRANT, device_code: String(codes.device_code) };
  const { body, text } = await postForm(app, '/oauth2/token', fields);
  ok(body.access_token, text);
  PAGELESS.push(String(body.access_token));
  others.authorization = (
    await tokensOf(app, tool, root, { scope: 'openid offline_access admin account' })
  ).refresh_token;
}

const owner = { username: 'owen', email: 'owen@example.com' };
async function createLinksOfAll(): Promise<void> {
  const { id } = await app.createUser(owner.username, { email: owner.email, is_email_verified: true });
  const links = createLinks({
    collection: app.store.collection(model.links),
    accounts: app.store.collection(model.accounts),
    clock: app.now,
    settings: () => app.app.settings.current(),
  });
  const fields = { email: 'guest@example.com', send_mail: false };
  const invited = await app.admin('POST', '/invitations', fields);
  others.invitation = tokenIn(String(invited.body.data.url));
  // Adding an address changes what links rest on, so it comes first.
  const agent = new Agent(app);
  const address = '/account/email';
  await press(agent, await open(agent, owner, address), address, { email: 'second@example.com' });
  const confirm = await mailbox.linkTo('second@example.com');
  const page = await agent.get(confirm);
  await agent.submit(page, {});
  others.stop = tokenIn(await mailbox.linkTo(owner.email));
  await press(agent, await open(agent, owner, address), address, { email: 'third@example.com' });
  others.new_address = tokenIn(await mailbox.linkTo('third@example.com'));
  const account = await app.app.accounts.find(id);
  ok(account);
  const of = async (purpose: LinkPurpose) => (await links.create({ account, purpose })).token;
  others.reset = await of('password_reset');
  others.verification = await of('email_verification');
  others.magic_link = await of('magic_link');
  const set = await app.createUser('new', { email: 'new@example.com' });
  const fresh = await app.app.accounts.find(set.id);
  ok(fresh);
  others.enrolment = (await links.create({ account: fresh, purpose: 'invitation' })).token;
}

async function createRecoveryCode(): Promise<void> {
  const who = await app.createUser('rita');
  const portal = await app.register(opensAccounts);
  const { access_token: token } = await tokensOf(app, portal, who, { scope: 'openid account' });
  const send = async (path: string, body?: object) => {
    const headers = { ...bearer(token), ...JSON_TYPE };
    const init = { headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    return JSON.parse((await call(app, 'POST', `/account/api/${path}`, init)).text).data;
  };
  const begun = await send('totp');
  const phone = createPhone(String(begun.secret), app);
  const { recovery_codes: codes } = await send('totp/confirm', {
    pending: begun.pending,
    code: phone.code(),
  });
  others.recovery_code = String(codes[0]);
}

before(async () => {
  app = await startApp();
  mailbox = await openMailbox(app);
  await change(app, { limit_mail_address: 1000, allow_magic_link: true });
  victim = await app.createUser('victim');
  await createBearers();
  await createLinksOfAll();
  await createRecoveryCode();
});
after(async () => {
  await mailbox.close();
  await app.stop();
});

test('credentials: each bearer may do what the table says, and nothing else', async () => {
  for (const id of BEARERS) deepEqual((await openTo(bearers[id] ?? '')).toSorted(), bearersPartOf(id), id);
  for (const token of PAGELESS) deepEqual(await openTo(token), [], 'of a device or a password');
});

test('attack: a link, code or refresh token is brought as a bearer', async () => {
  for (const [id, secret] of Object.entries(others)) {
    ok(secret !== '' && secret !== 'undefined', id);
    deepEqual(await openTo(secret), [], id);
  }
});

test('attack: the token of one kind of link at the page of another', async () => {
  const pages = Object.values(table).flatMap(({ page = '' }) => (page === '' ? [] : [page]));
  const signedIn = new Agent(app);
  await open(signedIn, owner);
  for (const [id, { page: own }] of Object.entries(table)) {
    if (own === undefined) continue;
    const secret = Object.entries(others).find(([name]) => name === id)?.[1] ?? '';
    ok(secret, id);
    const opens: string[] = [];
    for (const page of pages) {
      const { status, body } = await signedIn.get(`${page}?token=${secret}`);
      // A sign-in link is answered only where it was asked for, and elsewhere by a page that says so.
      const isShown = body.includes(`value="${secret}"`) || page === table.magic_link.page;
      if (status === 200 && isShown) opens.push(page);
    }
    deepEqual(opens, [own], id);
  }
  for (const [id, secret] of [...Object.entries(bearers), ['recovery_code', others.recovery_code]])
    for (const page of pages) {
      const { body } = await signedIn.get(`${page}?token=${encodeURIComponent(String(secret))}`);
      ok(!body.includes(`value="${secret}"`), `${id} at ${page}`);
    }
});

test('credentials: five minutes later only those of programs may, as the table says', async () => {
  app.advance(STALE_MS);
  for (const id of BEARERS) {
    const expected = table[id].freshness === 'asked' ? [] : bearersPartOf(id);
    deepEqual((await openTo(bearers[id] ?? '')).toSorted(), expected, id);
  }
});

test('recovery code: one step of a sign-in, beside the password', async () => {
  const agent = new Agent(app);
  const asked = await open(agent, { username: 'rita' });
  const done = await agent.submit(asked, { method: 'recovery', code: others.recovery_code ?? '' });
  equal((await agent.get('/account')).status, 200, done.body.slice(0, 300));
});

const PAGES = {
  own_factors: '/account/second-factor',
  own_addresses: '/account/email',
  own_password: '/account/password',
};

test('sessions: fresh at their own pages, no bearer anywhere, the Admin UI by role alone', async () => {
  for (const [username, role] of [
    ['sam', 'user'],
    ['ada', 'admin'],
  ] as const) {
    const user = await app.createUser(username, { role });
    const agent = new Agent(app);
    await open(agent, user);
    const isOpen = async (path: string): Promise<boolean> => {
      const { status, body } = await agent.get(path);
      return status === 200 && !body.includes('prompt=login');
    };
    for (const [act, path] of Object.entries(PAGES)) equal(await isOpen(path), true, `${username} ${act}`);
    const console = await agent.follow(await agent.get('/admin/users'));
    equal(console.status === 200 && console.url.includes('/admin/users'), role === 'admin', username);
    const cookie = { cookie: agent.cookiesFor('/') };
    for (const [act, request] of Object.entries(bearerActs)) {
      const [method, path] = request();
      const { status } = await call(app, method, path, { headers: cookie });
      ok(status === 401 || status === 403 || status === 400, `${act} with the cookie: ${status}`);
    }
    equal((await call(app, 'GET', '/account/api/profile', { headers: cookie })).status, 401);
    app.advance(STALE_MS);
    equal(await isOpen(PAGES.own_factors), false, `${username}, five minutes later`);
  }
});

test('credentials: every row says what it may, where it is kept and what ends it', () => {
  for (const [id, row] of Object.entries(table)) {
    for (const text of [row.name, row.from, row.stored, row.lives, row.ends]) ok(text.length > 3, id);
    ok(row.at.length > 0, id);
    equal(new Set(row.may).size, row.may.length, id);
  }
  const used = new Set(Object.values(table).flatMap(({ may }) => may));
  deepEqual([...used].toSorted(), Object.keys(SIGN_IN_ACTS).toSorted());
});

/** What reads a credential from a request, compares one, or looks one up by its digest. */
const READS =
  /\b(?:timingSafeEqual|isSameDigest|isSecretOf|secretDigest|presentedToken|verifySync|jwtVerify|verifyAuthenticationResponse)\(|get\('authorization'\)|headers\.authorization|cookies\.get\(/;

test('source: every place that reads, compares or looks up a secret is in the table', () => {
  const root = join(import.meta.dirname, '..', '..');
  const found = ['src', 'interactions', 'adapters'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
      .filter((path) => READS.test(readFileSync(join(root, path), 'utf8'))),
  );
  const listed = new Set([...Object.values(table).flatMap(({ at }) => at), ...Object.keys(OTHER_SECRETS)]);
  deepEqual(
    found.filter((path) => !listed.has(path)),
    [],
    'in no row',
  );
  deepEqual(
    [...listed].filter((path) => !found.includes(path)),
    [],
    'no such place any more',
  );
});
