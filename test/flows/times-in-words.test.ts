// Times on pages: what never happened is said as such, and English dates have one form, the day first, in the account as in
// administration.
import { doesNotMatch, equal, match } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Agent, type Page } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { Authenticator } from '../support/authenticator.ts';
import { originOf, send } from '../support/passkeys.ts';

let app: TestApp;
const today = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' }).format(Date.now());
const MONTH_FIRST = /\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* \d{1,2}, \d{4}/;

before(async () => {
  app = await startApp();
});
after(() => app.stop());

async function enter(path: string, username: string): Promise<[Agent, Page]> {
  const agent = new Agent(app);
  const signIn = await agent.follow(await agent.get(path));
  return [agent, await agent.submit(signIn, { username, password: PASSWORD })];
}

test('a passkey never used: in administration and in the account, with the day it was added', async () => {
  const { id } = await app.createUser('grace');
  const [own, page] = await enter('/account/passkeys', 'grace');
  const key = new Authenticator({ origin: originOf(app) });
  const begun = await send(own, page, '/account/passkeys/register/begin');
  const added = await send(own, page, '/account/passkeys/register/finish', {
    response: key.create(begun.body),
  });
  equal(added.status, 200);
  const account = await own.get('/account/passkeys');
  match(account.body, new RegExp(`Added ${today} · Never used`));
  doesNotMatch(account.body, MONTH_FIRST);
  await app.createUser('root-admin', { role: 'admin' });
  const [admin] = await enter('/admin', 'root-admin');
  const words = (await admin.get(`/admin/users/${id}`)).body.replaceAll(/<[^>]*>/g, '');
  match(words, /added just now · never used/);
  doesNotMatch(words, /used never/);
  const german = await admin.get(`/admin/users/${id}`, { headers: { 'accept-language': 'de' } });
  match(german.body.replaceAll(/<[^>]*>/g, ''), /hinzugefügt gerade eben · nie verwendet/);
});
