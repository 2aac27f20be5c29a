// Attack: guessing recovery codes to block the owner's authenticator app, and respelling the name to get more guesses
// (keycloak #46164).
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { Agent, type Page } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { openSignIn } from '../support/passkeys.ts';
import { createPhone } from '../support/phone.ts';

let app: TestApp;
let client: { id: string; secret: string };

before(async () => {
  app = await startApp();
  client = await app.register();
});
after(() => app.stop());

const signInForm = async (agent: Agent, username: string): Promise<Page> =>
  agent.submit(await openSignIn(agent, client), { username, password: PASSWORD });

test('attack: recovery-code guesses block the owner’s authenticator app', async () => {
  await app.admin('PATCH', '/settings', { mfa_mode: 'required' });
  const user = await app.createUser('olive');
  const owner = new Agent(app);
  const enrolling = await signInForm(owner, 'olive');
  const secret = /[?&;]secret=([A-Z2-7]+)/.exec(enrolling.body)?.[1] ?? '';
  const phone = createPhone(secret, app);
  await owner.submit(enrolling, { action: 'enrol', code: phone.code() });

  const guess = async (times: number): Promise<number[]> => {
    const statuses: number[] = [];
    for (let round = 0; round < times; round += 1) {
      const thief = new Agent(app);
      const page = await signInForm(thief, 'olive');
      for (let n = 0; n < 5; n += 1) {
        const answer = await thief.submit(page, { method: 'recovery', code: 'zzzz-zzzz-zzzz-zzzz' });
        statuses.push(answer.status);
      }
    }
    return statuses;
  };
  assert.deepEqual(await guess(6), Array(30).fill(401));

  const back = new Agent(app);
  const page = await signInForm(back, user.username);
  const done = await back.submit(page, { method: 'totp', code: phone.code() });
  assert.match(done.location ?? done.body, /code=/);
  await app.admin('PATCH', '/settings', { mfa_mode: 'optional' });
});

test('attack: recovery-code guesses under other spellings of a name share one counter', async () => {
  await app.createUser('spelled', { email: 'spelled@example.com', is_email_verified: true });
  await app.admin('PATCH', '/settings', { limit_login_account_ip: 3 });
  const agent = new Agent(app);
  const signIn = await openSignIn(agent, client);
  const uid = /name="interaction" value="([^"]+)"/.exec(signIn.body)?.[1] ?? '';
  const page = await agent.get(`/oauth2/recover?interaction=${uid}`);
  const statuses: number[] = [];
  for (const username of ['spelled', 'SPELLED', '  Spelled ', 'ｓpelled', 'sPelled'])
    statuses.push((await agent.submit(page, { username, code: 'zzzz-zzzz-zzzz-zzzz' })).status);
  assert.deepEqual(statuses, [401, 401, 401, 429, 429]);
  await app.admin('PATCH', '/settings', { limit_login_account_ip: 1_000_000 });
});
