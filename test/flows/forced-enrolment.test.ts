// A second step that must be set up during a sign-in: the page says who wants it, and a passkey does as well as an app. The
// passkey counts as both factors only with its user verified, and where passkeys are used at all.
import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict';
import test, { after } from 'node:test';
import { Agent, type Page, redeem, VERIFIER } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';
import { Authenticator } from '../support/authenticator.ts';
import { beginRegistration, goOn, makePasskey, openSignIn, originOf, send } from '../support/passkeys.ts';
import { enrolPhone } from '../support/phone.ts';
import { claimsOf } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const plain = await app.register();
const strict = await app.register({
  client_name: 'Vault <of> Acme',
  required_acr: 'urn:latchkey:acr:multi-factor',
});
const newKey = (canVerifyUser = true): Authenticator =>
  new Authenticator({ origin: originOf(app), canVerifyUser });
const set = (values: Record<string, string>) => app.admin('PATCH', '/settings', values);

async function enter(
  agent: Agent,
  client: { id: string },
  username: string,
  more: Record<string, string> = {},
): Promise<Page> {
  return agent.submit(await openSignIn(agent, client), { username, password: PASSWORD, ...more });
}

test('enrolment: an application that requires it is named, and a passkey comes first', async () => {
  const alice = await app.createUser('alice');
  const agent = new Agent(app);
  const page = await enter(agent, strict, 'alice', { can_passkey: 'on' });
  match(page.body, /Vault &#60;of&#62; Acme<\/bdi><\/b> requires a second step/);
  match(page.body, /data-passkey="enrol"[\s\S]*<details/);
  match(page.body, /data:image\/png;base64/);
  const codes = await goOn(agent, await makePasskey(agent, page, newKey()));
  match(codes.body, /<code>[\w-]{19}<\/code>/);
  const last = await agent.submit(codes, { action: 'continue' });
  const code = new URL(last.location ?? '').searchParams.get('code') ?? '';
  const { body } = await redeem(app, strict, { code, verifier: VERIFIER });
  const { acr, amr } = claimsOf(body.id_token);
  equal(acr, 'urn:latchkey:acr:multi-factor');
  match(String(amr), /pwd.*hwk.*mfa/);
  equal((await app.admin('GET', `/users/${alice.id}`)).body.data.passkey_count, 1);
});

test('enrolment: everyone, a reset and the Admin UI are named each', async () => {
  const user = await app.createUser('bob');
  await set({ mfa_mode: 'required' });
  match((await enter(new Agent(app), plain, 'bob')).body, /requires a second step for every account/);
  await enrolPhone(app, new Agent(app), await openSignIn(new Agent(app), plain), 'bob').catch(
    () => undefined,
  );
  await set({ mfa_mode: 'optional' });
  await app.admin('POST', `/users/${user.id}/reset-mfa`);
  match((await enter(new Agent(app), plain, 'bob')).body, /An administrator has reset your second step/);
  await app.createUser('root-2', { role: 'admin' });
  await set({ admin_mfa: 'required' });
  const agent = new Agent(app);
  const first = await agent.follow(await agent.get('/admin'));
  // With one password, not with one before the Admin UI has seen what is missing and another after it.
  const page = await agent.submit(first, { username: 'root-2', password: PASSWORD });
  match(page.body, /The Admin UI asks administrators/);
  await set({ admin_mfa: 'offered' });
});

test('attack: a passkey that did not verify its user as the two factors that are asked for', async () => {
  await app.createUser('carol');
  const agent = new Agent(app);
  const page = await enter(agent, strict, 'carol');
  const answer = await makePasskey(agent, page, newKey(false));
  deepEqual([answer.status, answer.body.reason], [401, 'passkey.refused']);
  const quiet = await beginRegistration(agent, page, { mediation: 'conditional' });
  equal(quiet.body.authenticatorSelection?.userVerification, 'required');
  const response = newKey().create(quiet.body, { flags: 4 | 64 });
  const unseen = await send(agent, page, '/oauth2/passkey/register/finish', { response });
  equal(unseen.status, 401, 'nobody was present');
});

test('attack: a passkey at enrolment where passkeys are off', async () => {
  await app.createUser('dave');
  await set({ auth_mode: 'password' });
  try {
    const agent = new Agent(app);
    const page = await enter(agent, strict, 'dave');
    match(page.body, /data:image\/png;base64/);
    doesNotMatch(page.body, /data-passkey/);
    equal((await beginRegistration(agent, page)).status, 400);
  } finally {
    await set({ auth_mode: 'password_and_passkey' });
  }
});

test('attack: by the password alone, beside a factor that was enrolled meanwhile (R098)', async () => {
  await app.createUser('erin');
  const thief = new Agent(app);
  const open = await enter(thief, strict, 'erin');
  const begun = await beginRegistration(thief, open);
  const owner = new Agent(app);
  await goOn(owner, await makePasskey(owner, await enter(owner, strict, 'erin'), newKey()));
  const response = newKey().create(begun.body);
  const late = await send(thief, open, '/oauth2/passkey/register/finish', { response });
  equal(late.status, 400);
  equal((await beginRegistration(thief, open)).status, 400);
});
