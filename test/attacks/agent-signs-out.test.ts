// Attack (decision 0005): a program that anyone may register signs a person out everywhere with the ID token that it got, or has
// this server send their browser on.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { clients } from '../../src/store/collections.ts';
import { update } from '../../src/store/update.ts';
import { call, change, isActive } from '../flows/support.ts';
import { Agent, redeem } from '../support/agent.ts';
import { REDIRECT_URI, startApp } from '../support/app.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
await change(app, { agents: true });
const alice = await app.createUser('alice');
const ours = await app.register();
const BYE = 'https://evil.example/bye';
const page = (site: string) => ({
  'sec-fetch-site': site,
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
});
/** Of a browser on a plain http host, by a link elsewhere, typed, and by a link of ours. */
const WAYS: readonly Record<string, string>[] = [{}, page('cross-site'), page('none'), page('same-origin')];

async function stranger() {
  const { status, body } = await call(app, 'POST', '/oauth2/register', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Notes agent', redirect_uris: [REDIRECT_URI] }),
  });
  equal(status, 201, JSON.stringify(body));
  const id = String(body.client_id);
  // As a record from before the rule, or an error, could have it.
  await update(app.store.collection(clients), id, (value) => ({
    value: { ...value, metadata: { ...value.metadata, post_logout_redirect_uris: [BYE] } },
  }));
  const client = { id, secret: '' };
  const agent = new Agent(app);
  const { body: mine } = await redeem(app, ours, await agent.signIn(ours.id, alice));
  const { body: theirs } = await redeem(app, client, await agent.signIn(id, alice));
  const elsewhere = new Agent(app);
  const { body: other } = await redeem(app, client, await elsewhere.signIn(id, alice));
  return { id, agent, mine, theirs, other };
}

type Stranger = Awaited<ReturnType<typeof stranger>>;

async function expectOnlyItsOwn({ agent, mine, theirs, other }: Stranger, what: string): Promise<void> {
  equal(await isActive(app, theirs.access_token), false, what);
  equal(await isActive(app, theirs.refresh_token), false, what);
  equal(await isActive(app, mine.access_token), true, what);
  equal(await isActive(app, other.access_token), true, `${what}: in another browser`);
  const { response } = await agent.signIn(ours.id, alice, { prompt: 'none' });
  ok(response.has('code'), what);
}

test('attack: an agent ends the whole session by a hint without a browser', async () => {
  for (const method of ['GET', 'POST']) {
    for (const more of [{}, { post_logout_redirect_uri: BYE }]) {
      const all = await stranger();
      const form = new URLSearchParams({ id_token_hint: all.theirs.id_token, ...more });
      const answer = await (method === 'GET'
        ? call(app, 'GET', `/oauth2/logout?${form}`)
        : call(app, 'POST', '/oauth2/logout', { body: form }));
      equal(answer.headers.get('location'), null);
      await expectOnlyItsOwn(all, `${method} ${form}`);
    }
  }
});

test('attack: an agent ends the whole session by a link with a hint; the person is asked', async () => {
  for (const headers of WAYS) {
    const all = await stranger();
    const query = new URLSearchParams({ id_token_hint: all.theirs.id_token });
    const asked = await all.agent.get(`/oauth2/logout?${query}`, { headers });
    equal(asked.status, 200, JSON.stringify(headers));
    match(asked.body, /name="csrf"/);
    await expectOnlyItsOwn(all, JSON.stringify(headers));
    await all.agent.submit(asked, {});
    equal(await isActive(app, all.mine.access_token), false, 'the person has pressed the button');
  }
});

test('attack: an agent has browsers sent to its address by a link to the sign-out', async () => {
  for (const headers of WAYS) {
    const all = await stranger();
    const asks = [
      { client_id: all.id, post_logout_redirect_uri: BYE },
      { client_id: all.id, id_token_hint: all.theirs.id_token, post_logout_redirect_uri: BYE },
    ];
    for (const fields of asks) {
      for (const agent of [all.agent, new Agent(app)]) {
        const { location, body } = await agent.get(`/oauth2/logout?${new URLSearchParams(fields)}`, {
          headers,
        });
        deepEqual([location, body.includes(`href="${BYE}`)], [undefined, false]);
      }
    }
  }
});
