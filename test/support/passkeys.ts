// What the pages' scripts do with an authenticator, step by step, over HTTP.
import { equal, match } from 'node:assert/strict';
import { type Agent, challengeOf, hiddenFields, type Page, VERIFIER } from './agent.ts';
import { PASSWORD, REDIRECT_URI, type TestApp } from './app.ts';
import type { Authenticator, Lies, Options } from './authenticator.ts';

export interface Answer {
  readonly status: number;
  readonly body: Options & {
    readonly redirect?: string;
    readonly reason?: string;
    readonly rp_id?: string;
    readonly allowCredentials?: readonly { readonly id: string }[];
    readonly excludeCredentials?: readonly { readonly id: string }[];
    readonly authenticatorSelection?: { readonly userVerification: string };
  };
}

/** @returns the sign-in page */
export function openSignIn(
  agent: Agent,
  client: { id: string },
  parameters: Record<string, string> = {},
): Promise<Page> {
  return agent.authorize({
    client_id: client.id,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid profile email',
    state: 'st',
    code_challenge: challengeOf(VERIFIER),
    code_challenge_method: 'S256',
    ...parameters,
  });
}

/** A step of a ceremony with the fields of the page. */
export async function send(
  agent: Agent,
  page: Page,
  path: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Answer> {
  const { csrf, interaction } = hiddenFields(page.body);
  const answer = await agent.request(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ csrf, interaction, ...more }),
  });
  return { status: answer.status, body: JSON.parse(answer.body) };
}

const LOGIN = '/oauth2/passkey/login';
const REGISTER = '/oauth2/passkey/register';

export async function begin(agent: Agent, page: Page, purpose = 'sign_in'): Promise<Options> {
  const begun = await send(agent, page, `${LOGIN}/begin`, { purpose });
  equal(begun.status, 200, JSON.stringify(begun.body));
  return begun.body;
}

export const finish = (agent: Agent, page: Page, response: unknown, purpose = 'sign_in'): Promise<Answer> =>
  send(agent, page, `${LOGIN}/finish`, { purpose, response });

/** The whole ceremony on the page. */
export async function usePasskey(
  agent: Agent,
  page: Page,
  authenticator: Authenticator,
  { lies, purpose }: { lies?: Lies; purpose?: string } = {},
): Promise<Answer> {
  const options = await begin(agent, page, purpose);
  return finish(agent, page, authenticator.get(options, lies), purpose);
}

export const beginRegistration = (agent: Agent, page: Page, more = {}): Promise<Answer> =>
  send(agent, page, `${REGISTER}/begin`, more);

export async function makePasskey(
  agent: Agent,
  page: Page,
  authenticator: Authenticator,
  lies: Lies = {},
): Promise<Answer> {
  const begun = await beginRegistration(agent, page);
  equal(begun.status, 200, JSON.stringify(begun.body));
  return send(agent, page, `${REGISTER}/finish`, { response: authenticator.create(begun.body, lies) });
}

/** Where a step leads, followed as far as it stays here. */
export async function goOn(agent: Agent, answer: Answer): Promise<Page> {
  equal(answer.status, 200, JSON.stringify(answer.body));
  return agent.follow(await agent.get(answer.body.redirect ?? ''));
}

/** Signs in with the password in a browser that can make passkeys. @returns the offer */
export async function toOffer(
  agent: Agent,
  client: { id: string },
  user: { username: string },
): Promise<Page> {
  const page = await openSignIn(agent, client);
  const offer = await agent.submit(page, {
    username: user.username,
    password: PASSWORD,
    can_passkey: 'on',
  });
  match(offer.body, /data-passkey="offer"/);
  return offer;
}

/** Password, offer, passkey. */
export async function enrol(
  agent: Agent,
  client: { id: string },
  user: { username: string },
  authenticator: Authenticator,
): Promise<Page> {
  const offer = await toOffer(agent, client, user);
  return goOn(agent, await makePasskey(agent, offer, authenticator));
}

export function originOf(app: Pick<TestApp, 'url'>): string {
  return new URL(app.url).origin;
}
