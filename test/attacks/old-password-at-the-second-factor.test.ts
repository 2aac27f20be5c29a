// Attack: waiting at the second factor with a stolen password while the owner changes it, or the account is deactivated or
// deleted. The first factor is then void, and the attacker must not enrol an authenticator of their own.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { createPhone, enrolPhone, type Phone } from '../support/phone.ts';
import { accountChanges } from './account-changes.ts';
import { honestRequest } from './sign-in-form.ts';

interface Waiting {
  readonly browser: Agent;
  readonly page: Page;
  /** What the page asks for, rightly filled in. */
  fields(): Record<string, string>;
}

type Arrive = (app: TestApp, clientId: string) => Promise<Waiting>;

const begin = (browser: Agent, clientId: string): Promise<Page> =>
  browser.authorize({ ...honestRequest(clientId), prompt: 'login' });

async function enrolled(app: TestApp, clientId: string): Promise<Phone> {
  const browser = new Agent(app);
  const { phone } = await enrolPhone(app, browser, await begin(browser, clientId), 'alice');
  return phone;
}

const steps: Readonly<Record<string, Arrive>> = {
  async 'enrolling an authenticator'(app, clientId) {
    const browser = new Agent(app);
    const form = await begin(browser, clientId);
    const page = await browser.submit(form, { username: 'alice', password: PASSWORD });
    const phone = createPhone(/[?&;]secret=([A-Z2-7]+)/.exec(page.body)?.[1] ?? '', app);
    return { browser, page, fields: () => ({ action: 'enrol', code: phone.code() }) };
  },

  async 'the recovery codes'(app, clientId) {
    const { browser, page, fields } =
      (await steps['enrolling an authenticator']?.(app, clientId)) ?? assert.fail();
    const shown = await browser.submit(page, fields());
    return { browser, page: shown, fields: () => ({ action: 'continue' }) };
  },

  async 'the code'(app, clientId) {
    const phone = await enrolled(app, clientId);
    const browser = new Agent(app);
    const form = await begin(browser, clientId);
    const page = await browser.submit(form, { username: 'alice', password: PASSWORD });
    return { browser, page, fields: () => ({ method: 'totp', code: phone.code(), trust_device: 'on' }) };
  },
};

for (const [step, arrive] of Object.entries(steps)) {
  suite(`attack: account change at ${step}`, () => {
    async function start() {
      const app = await startApp();
      const client = await app.register();
      const user = await app.createUser('alice');
      assert.equal((await app.admin('PATCH', '/settings', { mfa_mode: 'required' })).status, 200);
      return { app, client, user, waiting: await arrive(app, client.id) };
    }

    test('control: without a change the sign-in completes', async (t) => {
      const { app, waiting } = await start();
      t.after(() => app.stop());
      let page = await waiting.browser.submit(waiting.page, waiting.fields());
      if (page.location === undefined) page = await waiting.browser.submit(page, { action: 'continue' });
      assert.match(page.location ?? '', /[?&]code=/);
    });

    for (const [what, change] of Object.entries(accountChanges)) {
      test(`the account is ${what}: the sign-in is refused`, async (t) => {
        const { app, user, waiting } = await start();
        t.after(() => app.stop());
        for (const { id } of (await app.admin('GET', '/sessions')).body.data.items ?? []) {
          await app.admin('DELETE', `/sessions/${id}`);
        }
        const state = async (): Promise<unknown> =>
          (await app.admin('GET', `/users/${user.id}`)).body.data?.totp_verified;
        await change(app, user);
        const before = await state();
        const fields = { ...hiddenFields(waiting.page.body), ...waiting.fields() };
        const page = await waiting.browser.post('/oauth2/mfa', fields);
        // Refused here and now, not at some later step: the code would have been taken, and the device trusted.
        assert.equal(page.status, 400, page.body);
        assert.doesNotMatch(page.body, /\b[0-9a-z]{4}(?:-[0-9a-z]{4}){3}\b/, 'recovery codes were shown');
        assert.equal(await state(), before);
        assert.equal((await app.admin('GET', '/sessions?is_active=true')).body.data.total, 0);
      });
    }
  });
}
