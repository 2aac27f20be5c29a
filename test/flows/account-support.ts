// A person in a browser on the pages of their own account.

import { after, before, beforeEach } from 'node:test';
import { Agent, hiddenFields, type Page, redeem } from '../support/agent.ts';
import { opensAccounts, PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { change, type User } from './support.ts';

/** Longer than a sign-in counts as fresh (decision 0011). */
export const STALE_MS = 400_000;

let people = 0;

/** With a confirmed address. */
export async function newPerson(
  app: TestApp,
  fields: Record<string, unknown> = {},
): Promise<User & { email: string }> {
  people += 1;
  const name = `owner-${people}`;
  const email = `${name}@example.com`;
  return { ...(await app.createUser(name, { email, is_email_verified: true, ...fields })), email };
}

interface AtHome {
  readonly app: TestApp;
  readonly client: { readonly id: string; readonly secret: string };
  readonly user: User & { readonly email: string };
  readonly browser: Agent;
}

/** One application for the file, and before each test a new person in a new browser. */
export function eachWithPerson(
  take: (given: AtHome) => void,
  options: { readonly fields?: Record<string, unknown>; readonly settings?: Record<string, unknown> } = {},
): void {
  let app: TestApp;
  let client: AtHome['client'];
  before(async () => {
    app = await startApp();
    client = await app.register(opensAccounts);
  });
  after(() => app.stop());
  beforeEach(async () => {
    if (options.settings !== undefined) await change(app, options.settings);
    take({ app, client, user: await newPerson(app, options.fields), browser: new Agent(app) });
  });
}

/** The page, after the sign-in that it leads to. */
export async function open(
  browser: Agent,
  { username }: { username: string },
  path = '/account',
  password = PASSWORD,
): Promise<Page> {
  const first = await browser.follow(await browser.get(path));
  if (!first.body.includes('name="password"') || first.url.includes('/account')) return first;
  return browser.submit(first, { username, password });
}

/** Sends the form of this page that leads there, and follows. */
export async function press(
  browser: Agent,
  page: Page,
  path: string,
  fields: Record<string, string> = {},
): Promise<Page> {
  const { csrf = '' } = hiddenFields(page.body);
  return browser.follow(await browser.post(path, { csrf, ...fields }));
}

/** The audit events of this name about the user. */
export async function eventsOf(app: TestApp, event: string, { id }: { id: string }) {
  const { body } = await app.admin('GET', `/audit?event=${event}&target_id=${id}`);
  return body.data.items ?? [];
}

/** Of a new browser. */
export async function accessTokenOf(
  app: TestApp,
  client: { id: string; secret: string },
  user: User,
): Promise<string> {
  const { body } = await redeem(app, client, await new Agent(app).signIn(client.id, user));
  return String(body.access_token);
}
