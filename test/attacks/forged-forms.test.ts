// Attack: cross-site request forgery with every form (Keycloak CVE-2017-12159). After every refusal the
// genuine form still works: the attack had no effect, and the test no false success.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { Agent, type Page } from '../support/agent.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { forms, type ReadyForm, tokenOfAnotherForm } from './forms.ts';
import { openSignIn } from './sign-in-form.ts';

type Attack = (form: ReadyForm) => Promise<Page>;

const send = (
  { browser, path, fields }: ReadyForm,
  changes: Record<string, string | undefined> = {},
  init: RequestInit = {},
): Promise<Page> => {
  const entries = Object.entries({ ...fields, ...changes });
  const given = entries.filter((entry): entry is [string, string] => entry[1] !== undefined);
  return browser.post(path, Object.fromEntries(given), init);
};

const withToken = (form: ReadyForm, token: string | undefined): Promise<Page> =>
  send(form, { [form.tokenName]: token });

const attacks: Readonly<Record<string, Attack>> = {
  'no token': (form) => withToken(form, undefined),
  'an empty token': (form) => withToken(form, ''),
  'a made-up token': (form) => withToken(form, 'A'.repeat(43)),
  'half of the token': (form) => withToken(form, form.fields[form.tokenName]?.slice(0, 20)),
  'the token of another browser': async (form) => withToken(form, await form.foreignToken()),
  'the token of another form': async (form) => withToken(form, await tokenOfAnotherForm(form)),
  'another site, by Sec-Fetch-Site': (form) =>
    send(
      form,
      {},
      {
        headers: {
          'sec-fetch-site': 'cross-site',
          'sec-fetch-mode': 'navigate',
          'sec-fetch-dest': 'document',
        },
      },
    ),
  'another site, by Origin': (form) => send(form, {}, { headers: { origin: 'https://evil.example' } }),
  'a site with our name in front': (form) =>
    send(form, {}, { headers: { origin: `${new URL(form.app.url).origin}.evil.example` } }),
  'no cookies': (form) => new Agent(form.app).post(form.path, form.fields),
  'another content type': (form) =>
    form.browser.request(form.path, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: new URLSearchParams(form.fields).toString(),
    }),
  'JSON instead of a form': (form) =>
    form.browser.request(form.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(form.fields),
    }),
  'everything in the query': (form) =>
    form.browser.post(`${form.path}?${new URLSearchParams(form.fields)}`, {}),
  'GET instead of POST': (form) => form.browser.get(`${form.path}?${new URLSearchParams(form.fields)}`),
};

// Signing out by POST needs no token of ours when no other site is behind it (decision 0005), so these two are no attack.
const HONEST: Readonly<Record<string, ReadonlySet<string>>> = {
  'sign-out confirmation': new Set([
    'no token',
    'everything in the query',
    'GET instead of POST',
    'no cookies',
  ]),
};

for (const [name, open] of Object.entries(forms)) {
  suite(`the form for ${name}`, () => {
    const isOnce = name === 'onboarding';
    let app: TestApp;
    before(async () => {
      app = await startApp();
    });
    after(() => app.stop());

    for (const [attack, strike] of Object.entries(attacks)) {
      if (HONEST[name]?.has(attack)) continue;
      test(`is refused with ${attack}`, async () => {
        const form = await open(app);
        const refused = await strike(form);
        assert.equal(form.hasWorked(refused), false, `${refused.status} ${refused.body}`);
        assert.ok(refused.status < 500, String(refused.status));
        // As before the attack: what follows is the honest form. It works only once where it makes the first administrator.
        if (!isOnce) await assertWorks(form, attack);
      });
    }

    test('works when it is sent unchanged', async () => {
      await assertWorks(await open(app), 'nothing');
    });
  });
}

async function assertWorks(form: ReadyForm, after: string): Promise<void> {
  const worked = await send(form, await form.renew?.());
  assert.ok(form.hasWorked(worked), `${after} broke it: ${worked.status} ${worked.body.slice(0, 2000)}`);
}

test('attack: login CSRF, signing the victim in to the attacker’s account', async (t) => {
  const app = await startApp();
  t.after(() => app.stop());
  const form = (await forms['sign-in']?.(app)) ?? assert.fail();
  await app.createUser('mallory');
  const client = await app.register();
  const mallorys = await openSignIn(app, client.id);
  const victims = await openSignIn(app, client.id);
  const mine = { username: 'mallory', password: String(form.fields.password) };

  const refused = [
    // Mallory's page, submitted by the victim's browser.
    await victims.browser.post('/oauth2/login', { ...mallorys.hidden, ...mine }),
    // The victim's own interaction with Mallory's proof.
    await victims.browser.post('/oauth2/login', {
      ...victims.hidden,
      csrf: mallorys.hidden.csrf ?? '',
      ...mine,
    }),
    await new Agent(app).post('/oauth2/login', { ...mallorys.hidden, ...mine }),
  ];
  for (const page of refused) assert.ok([400, 403].includes(page.status), String(page.status));
  assert.equal((await app.admin('GET', '/sessions')).body.data.total, 0);
});
