// Users' steps on the pages, by what is visible there.
import type { Page } from 'playwright-core';
import type { Program, RunningServer } from './processes.ts';

export const ADMIN = { username: 'ada', email: 'ada@example.com', password: 'plum trees in June' } as const;
export const USER = {
  username: 'grace',
  email: 'grace@example.com',
  password: 'correct horse battery staple',
} as const;

export async function onboard(page: Page, server: RunningServer): Promise<void> {
  await page.goto(`${server.origin}/onboard`);
  await page.getByLabel('Username').fill(ADMIN.username);
  await page.getByLabel('E-mail').fill(ADMIN.email);
  await page.getByLabel('Password', { exact: true }).fill(ADMIN.password);
  await page.getByLabel('Confirm password').fill(ADMIN.password);
  await page.getByRole('button', { name: 'Create administrator' }).click();
  await page.waitForURL(`${server.origin}/admin`);
}

export interface NewApplication {
  readonly name: string;
  readonly sample: Program;
  readonly isFirstParty?: boolean;
}

export interface Credentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** From any page of /admin, as the sample's own page asks for it. */
export async function register(
  page: Page,
  { name, sample, isFirstParty = false }: NewApplication,
): Promise<Credentials> {
  const navigation = page.getByRole('navigation', { name: 'Administration' });
  await navigation.getByRole('link', { name: 'Applications' }).click();
  await page.getByRole('link', { name: 'Add application' }).first().click();
  await page.getByRole('link', { name: 'Web app with a server' }).click();
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Redirect URIs', { exact: true }).fill(`${sample.origin}/callback`);
  if (isFirstParty) await page.getByLabel('First-party application').check();
  await page.getByRole('button', { name: 'Add application' }).click();
  await page.getByRole('heading', { name: 'is ready' }).waitFor();
  const text = async (id: string): Promise<string> =>
    ((await page.locator(`#${id}`).textContent()) ?? '').trim();
  return { clientId: await text('client-id'), clientSecret: await text('client-secret') };
}

/** Registers the sample by the admin API, as a first-party web application. */
export async function registerSample(
  server: RunningServer,
  sample: Program,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<Credentials> {
  const application = await server.admin('POST', '/clients', {
    client_name: 'Sample',
    redirect_uris: [`${sample.origin}/callback`],
    post_logout_redirect_uris: [`${sample.origin}/`],
    grant_types: ['authorization_code', 'refresh_token'],
    skip_consent: true,
    ...fields,
  });
  return { clientId: String(application.client_id), clientSecret: String(application.client_secret) };
}

export async function connect(
  page: Page,
  sample: Program,
  { clientId, clientSecret }: Credentials,
): Promise<void> {
  await page.goto(`${sample.origin}/`);
  await page.getByText('Register it by hand').click();
  await page.getByLabel('Client ID').fill(clientId);
  await page.getByLabel('Client secret').fill(clientSecret);
  await page.getByRole('button', { name: 'Connect' }).click();
  await page.getByRole('heading', { name: 'You’re not signed in' }).waitFor();
}

/** Fills the sign-in page and sends it. */
export async function enter(page: Page, person: { username: string; password: string }): Promise<void> {
  await page.getByLabel('Username or e-mail').fill(person.username);
  await page.getByLabel('Password', { exact: true }).fill(person.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** A value of a table of claims at the sample. */
export async function claim(page: Page, panel: string, name: string): Promise<string> {
  const row = page
    .locator('.panel', { has: page.getByRole('heading', { name: panel }) })
    .locator('tr', { has: page.getByRole('rowheader', { name, exact: true }) });
  return ((await row.locator('td').textContent()) ?? '').trim();
}

export const heading = async (page: Page): Promise<string> =>
  ((await page.locator('h1').textContent()) ?? '').trim();

/** Does something that leads to another page, and waits for that page. */
export async function loaded(page: Page, act: () => Promise<unknown>): Promise<void> {
  await Promise.all([page.waitForEvent('load'), act()]);
}
