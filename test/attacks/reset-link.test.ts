// Attacks on mailed links: a forged host in the link, resetting another user's password, using a link for another purpose,
// removing the second factor by a reset (Keycloak CVE-2026-18963, Zitadel CVE-2025-64101, Django
// CVE-2019-19844).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { secretDigest } from '../../src/ids.ts';
import { createLinks, type LinkPurpose } from '../../src/recovery/links.ts';
import * as model from '../../src/store/collections.ts';
import { Agent, codeRequest, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { type Mailbox, openMailbox, tokenIn } from '../support/mailbox.ts';
import { enrolPhone } from '../support/phone.ts';
import { liftLimits } from './limits.ts';
import { send } from './raw-http.ts';

const EVIL = 'evil.example';
const NEW_PASSWORD = 'four purple kites over Lisbon';

let app: TestApp;
let mailbox: Mailbox;
let clientId: string;

before(async () => {
  app = await startApp({ store: 'sqlite' });
  await liftLimits(app);
  mailbox = await openMailbox(app);
  clientId = (await app.register()).id;
});
after(async () => {
  await app.stop();
  await mailbox.close();
});

const createPerson = (username: string, on: TestApp = app): Promise<{ id: string; username: string }> =>
  on.createUser(username, { email: `${username}@example.com`, is_email_verified: true });

const authorize = (agent: Agent): Promise<Page> => agent.authorize(codeRequest(clientId));

/** @returns where a sign-in with the password leads */
async function signIn(username: string, password: string): Promise<Page> {
  const agent = new Agent(app);
  return agent.submit(await authorize(agent), { username, password });
}

const hasArrived = ({ location }: Page): boolean => location?.includes('code=') === true;

async function askForReset(email: string): Promise<Page> {
  const agent = new Agent(app);
  return agent.submit(await agent.get('/oauth2/forgot-password'), { email });
}

const sentTo = (address: string): number => mailbox.received.filter(({ to }) => to.includes(address)).length;

const links = () =>
  createLinks({
    collection: app.store.collection(model.links),
    accounts: app.store.collection(model.accounts),
    clock: app.now,
    settings: () => app.app.settings.current(),
  });

async function tokenFor(id: string, purpose: LinkPurpose): Promise<string> {
  const account = await app.app.accounts.find(id);
  assert.ok(account);
  return (await links().create({ account, purpose })).token;
}

const poisons: readonly (readonly (readonly [string, string])[])[] = [
  [['Host', EVIL]],
  [['Host', `127.0.0.1.${EVIL}`]],
  [['X-Forwarded-Host', EVIL]],
  [
    ['X-Forwarded-Host', EVIL],
    ['X-Forwarded-Proto', 'https'],
    ['X-Forwarded-Port', '666'],
    ['X-Forwarded-Prefix', `//${EVIL}`],
  ],
  [['Forwarded', `for=192.0.2.1;host=${EVIL};proto=https`]],
  [
    ['X-Original-Host', EVIL],
    ['X-Forwarded-Server', EVIL],
    ['Referer', `https://${EVIL}/`],
  ],
];

for (const [name, env] of [
  ['without a proxy', {}],
  ['behind a proxy', { TRUST_PROXY: '1' }],
] as const) {
  test(`attack: forged Host, X-Forwarded-Host or Forwarded, ${name}: the link leads to BASE_URL`, async (t) => {
    const own = await startApp({ env, path: '/auth' });
    t.after(() => own.stop());
    await liftLimits(own);
    const inbox = await openMailbox(own);
    t.after(() => inbox.close());
    for (const [index, poison] of poisons.entries()) {
      const { username } = await createPerson(`victim-${index}`, own);
      const agent = new Agent(own);
      const page = await agent.get(`${own.url}/oauth2/forgot-password`);
      const fields = { ...hiddenFields(page.body), email: `${username}@example.com` };
      const answer = await send(own.url, {
        method: 'POST',
        path: '/auth/oauth2/forgot-password',
        headers: [
          ...poison,
          ['Cookie', agent.cookiesFor('/auth/oauth2/forgot-password')],
          ['Content-Type', 'application/x-www-form-urlencoded'],
        ],
        body: new URLSearchParams(fields).toString(),
      });
      const label = JSON.stringify(poison);
      assert.equal(answer.status, 303, label);
      const link = await inbox.linkTo(`${username}@example.com`);
      assert.ok(link.startsWith(`${own.url}/oauth2/reset-password?token=`), `${label}: ${link}`);
      const { raw, mail } = inbox.received.at(-1) ?? {};
      assert.doesNotMatch(`${raw} ${mail?.text} ${mail?.html}`, /evil\.example|:666/, label);
    }
  });
}

test('attack: look-alike addresses and address lists: mail goes to the owner only', async () => {
  await createPerson('mike');
  const others = [
    'mike@example.com,thief@evil.example',
    'mike@example.com;thief@evil.example',
    'mike@example.com thief@evil.example',
    'mike@example.com\r\nBcc: thief@evil.example',
    'mike@example.com%0aBcc:thief@evil.example',
    '"mike@example.com" <thief@evil.example>',
    'thief@evil.example,mike@example.com',
    'mıke@example.com',
    'mike@example.com\u0000',
    'mi\u200bke@example.com',
    'mike@exam\u00adple.com',
    'mike+thief@example.com',
  ];
  for (const email of others) {
    const { status } = await askForReset(email);
    assert.ok([200, 400].includes(status), `${JSON.stringify(email)}: ${status}`);
  }
  for (const email of ['MIKE@EXAMPLE.COM', ' mike@example.com ']) await askForReset(email);
  await mailbox.deliver();
  const strangers = mailbox.received
    .flatMap(({ to }) => to)
    .filter((to) => !/^[\w-]+@example\.com$/.test(to));
  assert.deepEqual(strangers, []);
  assert.equal(sentTo('mıke@example.com') + sentTo('mike+thief@example.com'), 0);
  assert.ok(sentTo('mike@example.com') >= 1, 'the owner’s own spelling is found');
  assert.ok(mailbox.received.every(({ to }) => to.length === 1));
});

test('attack: a reset of another user’s password by fields, address or database contents', async () => {
  const victim = await createPerson('victim');
  const { id: thiefId } = await createPerson('thief');
  const token = await tokenFor(thiefId, 'password_reset');
  const agent = new Agent(app);
  const claims = {
    username: victim.username,
    user: victim.id,
    id: victim.id,
    sub: victim.id,
    account_id: victim.id,
    accountId: victim.id,
    email: 'victim@example.com',
  };
  const page = await agent.get(`/oauth2/reset-password?${new URLSearchParams({ ...claims, token })}`);
  const { csrf = '' } = hiddenFields(page.body);
  assert.notEqual(csrf, '');
  assert.ok(!page.body.includes('victim'));
  const passwords = { password: NEW_PASSWORD, confirm_password: NEW_PASSWORD };
  const asked = await askForReset('victim@example.com');
  assert.equal(asked.status, 200);

  // The reset is under way for the victim; the way on is the mail alone.
  await mailbox.deliver();
  const [stored] = await app.store.collection(model.links).findBy('account', victim.id);
  assert.ok(stored);
  const bad = ['', 'x', victim.id, stored.id, token.slice(0, -1), `${token}x`, secretDigest(token)];
  for (const guess of bad) {
    const fields = { ...claims, ...passwords, csrf, token: guess };
    assert.equal((await agent.post('/oauth2/reset-password', fields)).status, 410, guess);
    assert.equal((await agent.get(`/oauth2/reset-password?token=${guess}`)).status, 410, guess);
  }
  const twice = new URLSearchParams({ csrf, token, ...passwords });
  twice.append('token', stored.id);
  assert.equal((await agent.request('/oauth2/reset-password', { method: 'POST', body: twice })).status, 400);
  // Without the page's own token another site cannot spend a link that it knows of.
  const blind = new Agent(app);
  const { csrf: foreign = '' } = hiddenFields((await blind.get('/oauth2/forgot-password')).body);
  for (const wrong of ['', csrf, foreign]) {
    const fields = { csrf: wrong, token, ...passwords };
    assert.equal((await blind.post('/oauth2/reset-password', fields)).status, 403);
  }

  const done = await agent.post('/oauth2/reset-password', { ...claims, ...passwords, csrf, token });
  assert.equal(done.status, 303);
  assert.ok(hasArrived(await signIn('thief', NEW_PASSWORD)), 'it is the thief’s own that changed');
  assert.ok(hasArrived(await signIn('victim', PASSWORD)));
});

test('attack: a token of one purpose at another’s page is refused and not used up', async () => {
  const pages = {
    password_reset: '/oauth2/reset-password',
    email_verification: '/oauth2/verify-email',
    magic_link: '/oauth2/magic-link',
  } as const;
  const { id: unverified } = await app.createUser('unproven', { email: 'unproven@example.com' });
  const email = { email: 'confused@example.com', is_email_verified: true };
  const { id: verified } = await app.createUser('confused', email);
  assert.equal((await app.admin('PATCH', '/settings', { allow_magic_link: true })).status, 200);
  const agent = new Agent(app);
  const purposes = ['password_reset', 'email_verification', 'magic_link', 'invitation'] as const;
  const tokens = new Map<LinkPurpose, string>();
  for (const purpose of purposes)
    tokens.set(purpose, await tokenFor(purpose === 'email_verification' ? unverified : verified, purpose));
  for (const [own, path] of Object.entries(pages)) {
    // A sign-in link has a form only in the browser that asked for it: that one has no proof to send along either.
    const expected = own === 'magic_link' ? 403 : 410;
    const right = await agent.get(`${path}?token=${tokens.get(own as keyof typeof pages)}`);
    assert.equal(right.status, 200, path);
    const { csrf = '' } = hiddenFields(right.body);
    for (const [purpose, token] of tokens) {
      if (purpose === own) continue;
      const fields = { csrf, token, password: NEW_PASSWORD, confirm_password: NEW_PASSWORD };
      assert.equal((await agent.get(`${path}?token=${token}`)).status, 410, `${purpose} at ${path}`);
      assert.equal((await agent.post(path, fields)).status, expected, `${purpose} at ${path}`);
    }
  }
  for (const [purpose, token] of tokens)
    assert.ok(await links().find(token, purpose), `${purpose} is not spent`);
  const { data } = (await app.admin('GET', `/users/${unverified}`)).body;
  assert.equal(data.is_email_verified, false);
  assert.ok(hasArrived(await signIn('confused', PASSWORD)));
});

test('attack: a password reset to remove the second factor', async () => {
  const { username } = await createPerson('guarded');
  assert.equal((await app.admin('PATCH', '/settings', { mfa_mode: 'required' })).status, 200);
  const owner = new Agent(app);
  const { phone } = await enrolPhone(app, owner, await authorize(owner), username);
  assert.equal((await app.admin('PATCH', '/settings', { mfa_mode: 'optional' })).status, 200);

  await askForReset('guarded@example.com');
  const link = await mailbox.linkTo('guarded@example.com');
  const thief = new Agent(app);
  const passwords = { password: NEW_PASSWORD, confirm_password: NEW_PASSWORD };
  const done = await thief.submit(await thief.get(link), { ...passwords, token: tokenIn(link) });
  assert.equal(done.status, 200);

  const asked = await thief.submit(await authorize(thief), { username, password: NEW_PASSWORD });
  assert.equal(asked.location, undefined);
  assert.match(asked.url, /\/oauth2\/mfa/);
  assert.doesNotMatch(
    asked.body,
    /data:image\/png|name="method" value="email"/,
    'nothing new can be enrolled',
  );
  assert.equal((await thief.submit(asked, { method: 'totp', code: '000000' })).status, 401);
  assert.equal((await thief.submit(asked, { action: 'enrol', code: '000000' })).status, 401);
  assert.ok(!hasArrived(await thief.submit(asked, { action: 'continue' })));
  assert.ok(
    hasArrived(await thief.submit(asked, { method: 'totp', code: phone.code() })),
    'the owner’s code is good',
  );
});
