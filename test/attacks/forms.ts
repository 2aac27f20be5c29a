// Owns every form that changes something, each ready to be sent: what attacks from other sites are tried on.
import assert from 'node:assert/strict';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { honestRequest, openSignIn } from './sign-in-form.ts';

export interface ReadyForm {
  readonly app: TestApp;
  readonly browser: Agent;
  readonly path: string;
  readonly tokenName: 'csrf' | 'xsrf';
  /** Complete: sent as they are, the form works. */
  readonly fields: Readonly<Record<string, string>>;
  /** Whether the answer shows that the form did what it is for. */
  hasWorked(page: Page): boolean;
  /** A token of the same form in another browser. */
  foreignToken(): Promise<string>;
  /** Where a token is good for one try: the fields of the form as it is shown again. */
  renew?(): Promise<Readonly<Record<string, string>>>;
}

const NATIVE = {
  application_type: 'native',
  client_type: 'public',
  redirect_uris: ['http://127.0.0.1/callback'],
  grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
};

/** The form's hidden fields, whose token is looked for under that name. */
function tokenOf(page: Page, name: string): string {
  return hiddenFields(page.body)[name] ?? assert.fail(`no ${name} on ${page.url}: ${page.body}`);
}

async function onboarded(app: TestApp): Promise<Agent> {
  const browser = new Agent(app);
  const page = await browser.get('/onboard');
  const fields = { username: 'root-admin', password: PASSWORD, confirm_password: PASSWORD };
  await browser.post('/oauth2/onboard', { ...hiddenFields(page.body), ...fields });
  return browser;
}

async function userCode(app: TestApp): Promise<string> {
  const client = await app.register(NATIVE);
  const response = await fetch(`${app.url}/oauth2/device_authorization`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: client.id, scope: 'openid' }),
  });
  const { user_code: code }: { user_code: string } = JSON.parse(await response.text());
  return code;
}

const isSentTo = (page: Page, start: string): boolean =>
  page.status === 303 && page.location?.startsWith(start) === true && !page.location.includes('error=');

/** By the name of the form; each call starts an application of its own, which the caller stops. */
export const forms: Readonly<Record<string, () => Promise<ReadyForm>>> = {
  async 'sign-in'() {
    const app = await startApp();
    const client = await app.register();
    await app.createUser('alice');
    const { browser, hidden } = await openSignIn(app, client.id);
    return {
      app,
      browser,
      path: '/oauth2/login',
      tokenName: 'csrf',
      fields: { ...hidden, username: 'alice', password: PASSWORD },
      hasWorked: (page) => isSentTo(page, app.url),
      foreignToken: async () => (await openSignIn(app, client.id)).hidden.csrf ?? assert.fail(),
    };
  },

  async consent() {
    const app = await startApp();
    const client = await app.register({ skip_consent: false });
    await app.createUser('alice');
    const arrive = async () => {
      const form = await openSignIn(app, client.id);
      return { browser: form.browser, page: await form.browser.follow(await form.attempt('alice')) };
    };
    const { browser, page } = await arrive();
    return {
      app,
      browser,
      path: '/oauth2/consent',
      tokenName: 'csrf',
      fields: { ...hiddenFields(page.body), action: 'allow' },
      hasWorked: (answer) => isSentTo(answer, app.url),
      foreignToken: async () => tokenOf((await arrive()).page, 'csrf'),
    };
  },

  async onboarding() {
    const app = await startApp();
    const browser = new Agent(app);
    const page = await browser.get('/onboard');
    const person = { username: 'root-admin', password: PASSWORD, confirm_password: PASSWORD };
    return {
      app,
      browser,
      path: '/oauth2/onboard',
      tokenName: 'csrf',
      fields: { ...hiddenFields(page.body), ...person },
      hasWorked: (answer) => isSentTo(answer, `${app.url}/admin`),
      foreignToken: async () => tokenOf(await new Agent(app).get('/onboard'), 'csrf'),
    };
  },

  async 'sign-out confirmation'() {
    const app = await startApp();
    const client = await app.register();
    await app.createUser('alice');
    const arrive = async () => {
      const browser = new Agent(app);
      await browser.signIn(client.id, { username: 'alice' });
      const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
      return { browser, page: await browser.get('/oauth2/logout', { headers }) };
    };
    const { browser, page } = await arrive();
    return {
      app,
      browser,
      path: '/oauth2/logout',
      tokenName: 'csrf',
      fields: hiddenFields(page.body),
      hasWorked: (answer) => answer.status === 200 && !answer.body.includes('name="csrf"'),
      foreignToken: async () => tokenOf((await arrive()).page, 'csrf'),
    };
  },

  async 'registering an application'() {
    const app = await startApp();
    const browser = await onboarded(app);
    const page = await browser.get('/admin');
    const application = { name: 'New', type: 'web', redirect_uris: 'https://new.example/callback' };
    const client = await app.register();
    await app.createUser('second-admin', { role: 'admin' });
    return {
      app,
      browser,
      path: '/admin/applications',
      tokenName: 'csrf',
      fields: { ...hiddenFields(page.body), ...application },
      hasWorked: (answer) => answer.status === 200 && answer.body.includes('https://new.example/callback'),
      async foreignToken() {
        const other = new Agent(app);
        await other.signIn(client.id, { username: 'second-admin' });
        return tokenOf(await other.get('/admin'), 'csrf');
      },
    };
  },

  async 'device code'() {
    const app = await startApp();
    await app.createUser('alice');
    const browser = new Agent(app);
    const code = await userCode(app);
    const arrive = async () => {
      const page = await browser.get('/oauth2/device');
      return { ...hiddenFields(page.body), user_code: code };
    };
    return {
      app,
      browser,
      path: '/oauth2/device',
      tokenName: 'xsrf',
      fields: await arrive(),
      renew: arrive,
      hasWorked: (answer) => answer.status === 200 && answer.body.includes('name="confirm"'),
      foreignToken: async () => tokenOf(await new Agent(app).get('/oauth2/device'), 'xsrf'),
    };
  },

  async 'device confirmation'() {
    const app = await startApp();
    await app.createUser('alice');
    const browser = new Agent(app);
    const arrive = async (where = browser) => {
      const page = await where.get('/oauth2/device');
      const fields = { ...hiddenFields(page.body), user_code: await userCode(app) };
      const confirmation = await where.post('/oauth2/device', fields);
      return { ...hiddenFields(confirmation.body), confirm: 'yes' };
    };
    return {
      app,
      browser,
      path: '/oauth2/device',
      tokenName: 'xsrf',
      fields: await arrive(),
      renew: () => arrive(),
      hasWorked: (answer) => answer.status === 200 && answer.body.includes('name="password"'),
      async foreignToken() {
        const fields: Record<string, string> = await arrive(new Agent(app));
        return fields.xsrf ?? assert.fail();
      },
    };
  },
};

/** A token that this browser got for another form. */
export async function tokenOfAnotherForm({ app, browser, fields }: ReadyForm): Promise<string> {
  const client = await app.register();
  const page = await browser.authorize({ ...honestRequest(client.id), prompt: 'login' });
  const { csrf, interaction } = hiddenFields(page.body);
  assert.notEqual(interaction, fields.interaction);
  return csrf ?? assert.fail();
}
