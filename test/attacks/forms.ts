// Every form that changes something, ready to be sent: the targets of cross-site attacks.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, type TestApp } from '../support/app.ts';
import { createPhone } from '../support/phone.ts';
import { answersOf, openSignup } from '../support/signup.ts';
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

/** So that each has a name of their own. */
let people = 0;

/** The form's hidden fields, whose token is looked for under that name. */
function tokenOf(page: Page, name: string): string {
  return hiddenFields(page.body)[name] ?? assert.fail(`no ${name} on ${page.url}: ${page.body}`);
}

/** Makes the user unless an earlier form has. */
async function ensureUser(
  app: TestApp,
  username: string,
  fields: Record<string, unknown> = {},
): Promise<void> {
  const { status } = await app.admin('POST', '/users', { username, password: PASSWORD, ...fields });
  assert.ok(status === 201 || status === 409, String(status));
}

async function administrator(app: TestApp, username: string): Promise<Agent> {
  await ensureUser(app, username, { role: 'admin' });
  const client = await app.register();
  const browser = new Agent(app);
  await browser.signIn(client.id, { username });
  await browser.follow(await browser.get('/admin'));
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

/** By the name of the form; each call opens one more of its kind. Onboarding takes an application without an administrator. */
export const forms: Readonly<Record<string, (app: TestApp) => Promise<ReadyForm>>> = {
  async 'sign-in'(app) {
    const client = await app.register();
    await ensureUser(app, 'alice');
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

  async consent(app) {
    const client = await app.register({ skip_consent: false });
    await ensureUser(app, 'alice');
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

  async 'enrolling a second factor'(app) {
    const client = await app.register();
    assert.equal((await app.admin('PATCH', '/settings', { mfa_mode: 'required' })).status, 200);
    const arrive = async () => {
      people += 1;
      await app.createUser(`person-${people}`);
      const form = await openSignIn(app, client.id);
      const page = await form.browser.follow(await form.attempt(`person-${people}`));
      return { browser: form.browser, page };
    };
    const { browser, page } = await arrive();
    const phone = createPhone(/[?&;]secret=([A-Z2-7]+)/.exec(page.body)?.[1] ?? '', app);
    return {
      app,
      browser,
      path: '/oauth2/mfa',
      tokenName: 'csrf',
      fields: { ...hiddenFields(page.body), action: 'enrol', code: phone.code() },
      // On to the page with the recovery codes (POST, redirect, GET).
      hasWorked: (answer) => answer.status === 303 && answer.location?.includes('/oauth2/mfa?') === true,
      foreignToken: async () => tokenOf((await arrive()).page, 'csrf'),
    };
  },

  async onboarding(app) {
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

  async 'signing up'(app) {
    const settings = {
      allow_self_signup: true,
      signup_require_verified_email: false,
      signup_email: 'optional',
    };
    assert.equal((await app.admin('PATCH', '/settings', settings)).status, 200);
    const client = await app.register();
    people += 1;
    const browser = new Agent(app);
    const { email: _, ...answers } = answersOf(`person-${people}`);
    return {
      app,
      browser,
      path: '/oauth2/signup',
      tokenName: 'csrf',
      fields: { ...hiddenFields((await openSignup(app, client.id, browser)).body), ...answers },
      hasWorked: (page) => isSentTo(page, app.url),
      foreignToken: async () => tokenOf(await openSignup(app, client.id), 'csrf'),
    };
  },

  async 'accepting an invitation'(app) {
    people += 1;
    const invite = async (browser: Agent): Promise<Page> => {
      const email = `guest-${people}-${randomUUID()}@example.com`;
      const { body } = await app.admin('POST', '/invitations', { email, send_mail: false });
      return browser.get(String(body.data.url));
    };
    const browser = new Agent(app);
    const { email: _, ...answers } = answersOf(`guest-${people}`);
    return {
      app,
      browser,
      path: '/oauth2/signup',
      tokenName: 'csrf',
      fields: { ...hiddenFields((await invite(browser)).body), ...answers },
      hasWorked: (page) => page.status === 303 && page.location?.includes('/oauth2/signup?done=') === true,
      foreignToken: async () => tokenOf(await invite(new Agent(app)), 'csrf'),
    };
  },

  async 'sign-out confirmation'(app) {
    const client = await app.register();
    await ensureUser(app, 'alice');
    const arrive = async () => {
      const browser = new Agent(app);
      await browser.signIn(client.id, { username: 'alice' });
      const headers = {
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'navigate',
        'sec-fetch-dest': 'document',
      };
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

  async 'registering an application'(app) {
    const browser = await administrator(app, 'root-admin');
    const page = await browser.get('/admin/applications/new/web');
    const application = { name: 'New', type: 'web', redirect_uris: 'https://new.example/callback' };
    return {
      app,
      browser,
      path: '/admin/applications/new/web',
      tokenName: 'csrf',
      fields: { ...hiddenFields(page.body), ...application },
      // On to the page that shows the secret once.
      hasWorked: (answer) =>
        answer.status === 303 && /\/admin\/applications\/[\w-]+\/secret\?/.test(answer.location ?? ''),
      async foreignToken() {
        const other = await administrator(app, 'second-admin');
        return tokenOf(await other.get('/admin/applications/new/web'), 'csrf');
      },
    };
  },

  async 'device code'(app) {
    await ensureUser(app, 'alice');
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

  async 'device confirmation'(app) {
    await ensureUser(app, 'alice');
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
