// Attack: a consent page left open in a shared browser. The next user presses "Allow" for the user who signed out, or for
// the one signed in meanwhile, and the client counts as allowed.
import { equal, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { consents } from '../../src/store/collections.ts';
import { Agent, codeRequest, type Page } from '../support/agent.ts';
import { startApp } from '../support/app.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const alice = await app.createUser('alice');
const bob = await app.createUser('bob');
const ours = await app.register();

/** @returns the open page, and an application that no one allowed anything */
async function openPage(): Promise<{ agent: Agent; page: Page; client: { id: string } }> {
  const agent = new Agent(app);
  await agent.signIn(ours.id, alice);
  const client = await app.register({ skip_consent: false });
  const page = await agent.authorize({ ...codeRequest(client.id), scope: 'openid email' });
  ok(page.body.includes('action="/oauth2/consent"'), page.body);
  return { agent, page, client };
}

const isRemembered = async (accountId: string, clientId: string): Promise<boolean> =>
  (await app.store.collection(consents).find(`${accountId}:${clientId}`)) !== undefined;

const nexts: Readonly<Record<string, (agent: Agent) => Promise<unknown>>> = {
  'the person has signed out': (agent) => agent.get('/oauth2/logout'),
  'another person has signed in': (agent) => agent.signIn(ours.id, bob, { prompt: 'login' }),
  'the session was ended elsewhere': () => app.admin('POST', `/users/${alice.id}/revoke-sessions`),
};

for (const [what, next] of Object.entries(nexts)) {
  test(`attack: "Allow" on a consent page left open after ${what}`, async () => {
    const { agent, page, client } = await openPage();
    await next(agent);
    for (const action of ['allow', 'deny']) {
      const answer = await agent.submit(page, { action });
      equal(answer.status, 400, answer.body);
      ok(!answer.location?.includes('code='));
    }
    for (const { id } of [alice, bob]) equal(await isRemembered(id, client.id), false);
  });
}

test('consent: "Allow" by the same signed-in user is remembered', async () => {
  const { agent, page, client } = await openPage();
  ok((await agent.submit(page, { action: 'allow' })).location?.includes('code='));
  equal(await isRemembered(alice.id, client.id), true);
});
