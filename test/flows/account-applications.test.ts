// What a user sees of the applications and agents that have access, APIs included, and how it ends.
import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  Agent,
  codeRequest,
  hiddenFields,
  redeem,
  refresh,
  requestTokens,
  VERIFIER,
} from '../support/agent.ts';
import { opensAccounts, PASSWORD, REDIRECT_URI, startApp } from '../support/app.ts';
import { createApi } from './api-support.ts';
import { bearer, call, change, isActive, type Json, later } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const [alice, bob] = [await app.createUser('alice'), await app.createUser('bob')];
const web = await app.register({ client_name: 'Shop', ...opensAccounts });
await change(app, { agents: true });
const { body: made } = await call(app, 'POST', '/oauth2/register', {
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ client_name: 'Helper <b>', redirect_uris: [REDIRECT_URI] }),
});
const agentId = String(made.client_id);
const api = await createApi(app, { name: 'Orders <i>', is_open_to_agents: true });

async function agreed(agent: Agent) {
  const asked = { ...codeRequest(agentId), scope: 'openid offline_access read', resource: api.identifier };
  const page = await agent.authorize({ ...asked, prompt: 'consent' });
  const done = await agent.submit(page, { action: 'allow' });
  const { status, body } = await requestTokens(
    app,
    { id: agentId, secret: '' },
    {
      grant_type: 'authorization_code',
      code: new URL(done.location ?? '').searchParams.get('code') ?? '',
      code_verifier: VERIFIER,
      redirect_uri: REDIRECT_URI,
    },
  );
  equal(status, 200, JSON.stringify(body));
  return body;
}

const browser = new Agent(app);
await redeem(app, web, await browser.signIn(web.id, alice));
const tokens = await agreed(browser);

async function listed(token: string): Promise<Json[]> {
  const { status, body } = await call(app, 'GET', '/account/api/applications', { headers: bearer(token) });
  equal(status, 200, JSON.stringify(body));
  const data: unknown = body.data;
  const items: unknown = typeof data === 'object' && data !== null && 'items' in data ? data.items : [];
  return Array.isArray(items) ? items : [];
}

test('account: an agent with its APIs in their words, last use and live tokens', async () => {
  const { body } = await browser.get('/account');
  match(body, /Helper &lt;b&gt;/);
  match(body, /Unverified agent/);
  match(body, /Orders &lt;i&gt;[\s\S]*See your orders/);
  doesNotMatch(body, /Change your orders/);
  match(body, /Last used/);
  match(body, /Active tokens: 2/);
  const own = (await redeem(app, web, await browser.signIn(web.id, alice))).body;
  const found = (await listed(own.access_token)).find(({ client_id: id }) => id === agentId);
  const { since, last_used_at: used, scopes, ...rest } = found ?? {};
  match(`${String(since)} ${String(used)}`, /^20\d\d-\S+Z 20\d\d-\S+Z$/);
  deepEqual(scopes, ['openid', 'offline_access']);
  deepEqual(rest, {
    client_id: agentId,
    client_name: 'Helper <b>',
    is_agent: true,
    apis: [
      {
        name: 'Orders <i>',
        resource: api.identifier,
        scopes: [{ name: 'read', description: 'See your orders' }],
      },
    ],
    active_tokens: 2,
  });
});

test('account: last use follows the newest token; a scope or API that is gone is not shown', async () => {
  const own = (await redeem(app, web, await browser.signIn(web.id, alice))).body;
  const used = async (): Promise<number> => {
    const found = (await listed(own.access_token)).find(({ client_id: id }) => id === agentId);
    return Date.parse(String(found?.last_used_at));
  };
  const before = await used();
  const next = await later(90_000, () => refresh(app, { id: agentId, secret: '' }, tokens.refresh_token));
  equal(next.status, 200, JSON.stringify(next.body));
  tokens.refresh_token = next.body.refresh_token;
  tokens.access_token = next.body.access_token;
  equal((await used()) >= before + 89_000, true);
  const other = { name: 'other', description: 'Something else' };
  await api.patch({ scopes: [other] });
  doesNotMatch((await browser.get('/account')).body, /Orders &lt;i&gt;|Something else/);
});

test('attack: another user’s agent is removed; one’s own ends with its tokens at once', async () => {
  await api.patch({ scopes: [{ name: 'read', description: 'See your orders' }] });
  const held = await agreed(browser);
  const thief = new Agent(app);
  await thief.signIn(web.id, bob);
  const remove = async (agent: Agent) =>
    agent.post('/account/applications/remove', {
      csrf: hiddenFields((await agent.get('/account')).body).csrf ?? '',
      id: agentId,
    });
  equal((await remove(thief)).status, 404);
  equal(await isActive(app, held.refresh_token), true);
  await browser.submit(await browser.authorize({ ...codeRequest(web.id), prompt: 'login' }), {
    username: 'alice',
    password: PASSWORD,
  });
  equal((await browser.follow(await remove(browser))).status, 200);
  equal(await isActive(app, held.refresh_token), false);
  equal(await isActive(app, held.access_token), false);
  const { body } = await browser.get('/account');
  doesNotMatch(body, /Remove access: Helper/);
  match(body, /Access removed from <b><bdi>Helper &#60;b&#62;/);
});
