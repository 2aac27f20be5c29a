// Attack: user enumeration by the answer: whether an account exists, is locked or inactive (Zitadel
// CVE-2026-23511 and CVE-2024-41952, Keycloak CVE-2026-4633).
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Page } from '../support/agent.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { liftLimits } from './limits.ts';
import { isAccepted, openSignIn, PASSWORD_GRANT, passwordGrant, type SignInForm } from './sign-in-form.ts';

// Names of one length: a page that shows the name again is as long for all.
const NAMES = { unknown: 'person-u', wrong: 'person-w', locked: 'person-l', inactive: 'person-i' };
type Case = keyof typeof NAMES;
const CASES: readonly Case[] = ['unknown', 'wrong', 'locked', 'inactive'];

let app: TestApp;
let client: { id: string; secret: string };

before(async () => {
  app = await startApp();
  await liftLimits(app);
  client = await app.register(PASSWORD_GRANT);
  for (const kind of ['wrong', 'locked', 'inactive'] as const) await app.createUser(NAMES[kind]);
  await app.admin('PATCH', '/settings', { lockout_threshold: 100 });
  const { body } = await app.admin('GET', `/users?search=${NAMES.inactive}`);
  await app.admin('PATCH', `/users/${body.data.items?.[0]?.id}`, { is_active: false });
  const form = await openSignIn(app, client.id);
  for (let attempt = 0; attempt < 100; attempt += 1) await form.attempt(NAMES.locked, 'wrong');
  const locked = await app.admin('GET', `/users?search=${NAMES.locked}`);
  assert.notEqual(locked.body.data.items?.[0]?.locked_until, null);
});
after(() => app.stop());

const VARIABLE_HEADERS = new Set(['date', 'x-request-id']);

/** An answer without what differs at every request, and with the name taken out. */
function visible(page: Page, name: string): object {
  const nonce = /'nonce-([^']+)'/.exec(page.headers.get('content-security-policy') ?? '')?.[1] ?? '-';
  const plain = (text: string): string => text.replaceAll(nonce, 'NONCE').replaceAll(name, 'NAME');
  const headers = [...page.headers].filter(([header]) => !VARIABLE_HEADERS.has(header));
  return {
    status: page.status,
    headers: headers.map(([header, value]) => [header, plain(value)]),
    cookies: page.headers.getSetCookie(),
    bytes: Buffer.byteLength(page.body),
    body: plain(page.body),
  };
}

async function seenBy(form: SignInForm, kind: Case, password: string): Promise<object> {
  const page = await form.attempt(NAMES[kind], password);
  assert.equal(page.status, 401);
  return visible(page, NAMES[kind]);
}

suite('attack: user enumeration; unknown, wrong, locked and inactive look the same', () => {
  test('on the sign-in page, at the first and every later attempt', async () => {
    const form = await openSignIn(app, client.id);
    for (let round = 0; round < 3; round += 1) {
      const wrong = await seenBy(form, 'wrong', 'not the password');
      for (const kind of CASES) assert.deepEqual(await seenBy(form, kind, 'not the password'), wrong, kind);
    }
  });

  test('with the correct password, where the account may not sign in', async () => {
    const form = await openSignIn(app, client.id);
    const wrong = await seenBy(form, 'wrong', 'not the password');
    for (const kind of ['unknown', 'locked', 'inactive'] as const) {
      const page = await form.attempt(NAMES[kind]);
      assert.equal(isAccepted(page), false);
      assert.deepEqual(visible(page, NAMES[kind]), wrong, kind);
    }
  });

  test('in each language of the page', async () => {
    for (const locale of ['de', 'ar', 'ja']) {
      const form = await openSignIn(app, client.id, { ui_locales: locale });
      const wrong = await seenBy(form, 'wrong', 'not the password');
      for (const kind of CASES) assert.deepEqual(await seenBy(form, kind, 'not the password'), wrong, kind);
    }
  });

  test('at the password grant', async () => {
    const answerTo = async (kind: Case): Promise<object> => {
      const response = await passwordGrant(app, client, NAMES[kind], 'not the password');
      const headers = [...response.headers].filter(([header]) => !VARIABLE_HEADERS.has(header));
      return { status: response.status, headers, body: await response.text() };
    };
    const wrong = await answerTo('wrong');
    for (const kind of CASES) assert.deepEqual(await answerTo(kind), wrong, kind);
  });

  test('in login_hint and the page before the attempt', async () => {
    const pages = await Promise.all(
      CASES.map(async (kind) => {
        const { page } = await openSignIn(app, client.id, { login_hint: NAMES[kind] });
        const body = page.body.replaceAll(NAMES[kind], 'NAME');
        return body
          .replace(/value="[\w-]{20,}"/g, 'value="TOKEN"')
          .replace(/interaction=[\w-]{20,}/g, 'interaction=TOKEN')
          .replace(/nonce="[^"]*"/g, 'nonce');
      }),
    );
    assert.equal(new Set(pages).size, 1);
  });

  test('prompt=none: answers without looking up the account', async () => {
    const { browser } = await openSignIn(app, client.id);
    const locations = await Promise.all(
      CASES.map(async (kind) => {
        const page = await browser.authorize({
          client_id: client.id,
          redirect_uri: 'https://rp.example/callback',
          response_type: 'code',
          scope: 'openid',
          prompt: 'none',
          login_hint: NAMES[kind],
          code_challenge: 'c'.repeat(43),
          code_challenge_method: 'S256',
        });
        return page.location;
      }),
    );
    assert.equal(new Set(locations).size, 1);
    assert.match(String(locations[0]), /error=login_required/);
  });
});

test('attack: user enumeration by names that cannot exist, which look unknown', async () => {
  const form = await openSignIn(app, client.id);
  const nobody = visible(await form.attempt('abcdefgh', 'not the password'), 'abcdefgh');
  for (const name of ['a@b@c.de', '........', "' or 1=1", '{"$ne":1}', 'ﷺﷺﷺﷺﷺﷺﷺﷺ']) {
    const page = await form.attempt(name, 'not the password');
    const { status } = Object(visible(page, name));
    assert.equal(status, Object(nobody).status, name);
  }
});
