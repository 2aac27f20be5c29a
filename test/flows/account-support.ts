// A person in a browser on the pages of their own account.
import { Agent, hiddenFields, type Page, redeem } from '../support/agent.ts';
import { PASSWORD, type TestApp } from '../support/app.ts';
import type { User } from './support.ts';

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
