// An open sign-in page, for attacks that submit it repeatedly.
import { Agent, challengeOf, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, type TestApp } from '../support/app.ts';

export const VERIFIER = 'v'.repeat(43);

/** A complete, honest authorization request. */
export const honestRequest = (clientId: string): Record<string, string> => ({
  client_id: clientId,
  redirect_uri: REDIRECT_URI,
  response_type: 'code',
  scope: 'openid profile email',
  state: 'st',
  code_challenge: challengeOf(VERIFIER),
  code_challenge_method: 'S256',
});

export interface SignInForm {
  readonly browser: Agent;
  /** The page as it was shown. */
  readonly page: Page;
  /** The hidden fields: interaction and csrf. */
  readonly hidden: Readonly<Record<string, string>>;
  /** One submission; redirects are not followed. */
  attempt(username: string, password?: string): Promise<Page>;
}

export async function openSignIn(
  app: Pick<TestApp, 'url'>,
  clientId: string,
  parameters: Record<string, string> = {},
  browser: Agent = new Agent(app),
): Promise<SignInForm> {
  const page = await browser.authorize({ ...honestRequest(clientId), ...parameters });
  if (!page.body.includes('name="password"')) throw new Error(`no sign-in page: ${page.status} ${page.body}`);
  const hidden = hiddenFields(page.body);
  return {
    browser,
    page,
    hidden,
    attempt: (username, password = PASSWORD) =>
      browser.post('/oauth2/login', { ...hidden, username, password }),
  };
}

/** Whether the browser was sent on, which is what a right password does. */
export const isAccepted = ({ status, location }: Page): boolean =>
  status === 303 && location !== undefined && !location.includes('error=');

/** The password grant (RFC 6749 §4.3), for applications that an administrator allowed it. */
export async function passwordGrant(
  app: Pick<TestApp, 'url'>,
  client: { id: string; secret: string },
  username: string,
  password = PASSWORD,
): Promise<Response> {
  return fetch(`${app.url}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` },
    body: new URLSearchParams({ grant_type: 'password', username, password }),
  });
}

export const PASSWORD_GRANT = { grant_types: ['authorization_code', 'refresh_token', 'password'] } as const;
