// Sign-up in tests: the page by way of a sign-in, its form filled in, and the code from the mail.
import { equal, match, notEqual, ok } from 'node:assert/strict';
import { Agent, challengeOf, type Page, redeem, type Tokens, VERIFIER } from './agent.ts';
import { PASSWORD, REDIRECT_URI, type TestApp } from './app.ts';
import type { Mailbox } from './mailbox.ts';

/** The first answer of the authorization endpoint. */
export const begin = (
  agent: Agent,
  clientId: string,
  parameters: Record<string, string> = {},
): Promise<Page> =>
  agent.authorize({
    client_id: clientId,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid profile email',
    state: 'st',
    code_challenge: challengeOf(VERIFIER),
    code_challenge_method: 'S256',
    ...parameters,
  });

/** By the link on the sign-in page. */
export async function openSignup(
  app: Pick<TestApp, 'url'>,
  clientId: string,
  agent: Agent = new Agent(app),
  parameters: Record<string, string> = {},
): Promise<Page> {
  const login = await begin(agent, clientId, parameters);
  const [, href = ''] = /href="([^"]*\/oauth2\/signup\?[^"]*)"/.exec(login.body) ?? [];
  notEqual(href, '', 'no way to sign up');
  const page = await agent.get(new URL(href.replaceAll('&amp;', '&'), app.url).href);
  equal(page.status, 200, page.body);
  return page;
}

/** Of a person of that name, complete. */
export const answersOf = (username: string, more: Record<string, string> = {}): Record<string, string> => ({
  username,
  email: `${username}@example.com`,
  password: PASSWORD,
  confirm_password: PASSWORD,
  ...more,
});

/** Delivers. @returns the code of the latest mail to this address, '' when there is none */
export async function codeTo(mailbox: Mailbox, address: string): Promise<string> {
  await mailbox.deliver();
  const mail = mailbox.received.findLast(({ to }) => to.includes(address));
  return /^ {4}(\d{6})$/m.exec(mail?.mail.text ?? '')?.[1] ?? '';
}

export function codeOf(page: Page): string {
  const { location = '' } = page;
  ok(location.startsWith(REDIRECT_URI), `not at the application: ${page.status} ${page.body}`);
  const code = new URL(location).searchParams.get('code') ?? '';
  match(code, /.+/);
  return code;
}

/** What the application gets for a person who has come back to it. */
export async function tokensOf(
  app: Pick<TestApp, 'url'>,
  client: { id: string; secret: string },
  page: Page,
): Promise<Tokens['body']> {
  const { status, body } = await redeem(app, client, { code: codeOf(page), verifier: VERIFIER });
  equal(status, 200, JSON.stringify(body));
  return body;
}

/** The user of that name as administrators see them. */
export async function userNamed(
  app: TestApp,
  username: string,
): Promise<Record<string, unknown> | undefined> {
  const { body } = await app.admin('GET', `/users?search=${encodeURIComponent(username)}`);
  return body.data.items?.find((user) => user.username === username);
}
