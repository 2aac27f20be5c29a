// Sign-ins that a thief leaves unfinished, to continue after the owner has changed something.
import assert from 'node:assert/strict';
import { Agent, codeRequest, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, type TestApp } from '../support/app.ts';
import { Authenticator } from '../support/authenticator.ts';
import { originOf, send } from '../support/passkeys.ts';

interface Client {
  readonly id: string;
}
interface Person {
  readonly username: string;
}
interface Parked {
  /** Fails if going on with it leads to a code for the application, a session or a way in. */
  isWorthless(): Promise<void>;
}

const toLogin = (thief: Agent, client: Client): Promise<Page> =>
  thief.authorize(codeRequest(client.id)).then((page) => thief.follow(page));

const actionOf = (page: Page): string => {
  const [, action = ''] = /<form[^>]*action="([^"]+)"/.exec(page.body) ?? [];
  return new URL(action.replaceAll('&amp;', '&'), page.url).href;
};

/** All is proven, and the redirect that makes a session of it is not followed. */
export async function park(
  app: TestApp,
  client: Client,
  { username }: Person,
  code?: () => string,
): Promise<Parked> {
  const thief = new Agent(app);
  const form = await toLogin(thief, client);
  const login = { ...hiddenFields(form.body), username, password: PASSWORD };
  let answer = await thief.post(actionOf(form), login);
  if (code !== undefined) {
    const step = await thief.follow(answer);
    const fields = { ...hiddenFields(step.body), method: 'totp', code: code() };
    answer = await thief.post(actionOf(step), fields);
  }
  assert.match(answer.location ?? '', /\/oauth2\/authorize\//, 'it was proven');
  return {
    async isWorthless() {
      const end = await thief.follow(answer);
      assert.doesNotMatch(end.location ?? '', /[?&]code=/);
      assert.equal((await thief.get('/account')).status, 303);
    },
  };
}

/** The password is given, and a passkey is offered. */
export async function parkAtOffer(app: TestApp, client: Client, { username }: Person): Promise<Parked> {
  await app.admin('PATCH', '/settings', { auth_mode: 'password_and_passkey' });
  const thief = new Agent(app);
  const form = await toLogin(thief, client);
  const offer = await thief.submit(form, { username, password: PASSWORD, can_passkey: 'on' });
  const key = new Authenticator({ origin: originOf(app) });
  const begun = await send(thief, offer, '/oauth2/passkey/register/begin');
  assert.equal(begun.status, 200, 'it was offered');
  return {
    async isWorthless() {
      const made = await send(thief, offer, '/oauth2/passkey/register/finish', {
        response: key.create(begun.body),
      });
      assert.notEqual(made.status, 200);
      assert.notEqual((await send(thief, offer, '/oauth2/passkey/register/begin')).status, 200);
    },
  };
}
