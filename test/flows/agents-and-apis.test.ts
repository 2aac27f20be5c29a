// Agents at APIs (decision 0026): only those open to agents, with consent in the API's words, and never with roles or groups.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { grants } from '../../src/store/protocol-collections.ts';
import { update } from '../../src/store/update.ts';
import { Agent, codeRequest, requestTokens } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp } from '../support/app.ts';
import { call, change, claimsOf } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
await app.createUser('alice', { role: 'admin' });
await change(app, { agents: true });

const scopes = [
  { name: 'mcp:tools', description: 'Use your notes', is_default: true },
  { name: 'mcp:write', description: 'Change your notes' },
];
async function createApi(identifier: string, isOpen: boolean): Promise<void> {
  const { status, body } = await app.admin('POST', '/resources', {
    identifier,
    name: 'Notes',
    scopes,
    claims: ['profile', 'roles', 'groups'],
    is_open_to_agents: isOpen,
  });
  equal(status, 201, JSON.stringify(body));
}
const OPEN = 'https://mcp.example/notes';
const CLOSED = 'https://mcp.example/payroll';
await createApi(OPEN, true);
await createApi(CLOSED, false);

const { body: made } = await call(app, 'POST', '/oauth2/register', {
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ client_name: 'Notes agent', redirect_uris: [REDIRECT_URI], scope: 'mcp:tools' }),
});
const id = String(made.client_id);
const request = { ...codeRequest(id), scope: 'mcp:tools', resource: OPEN };

test('agent: an API open to agents by consent in its words; a wider request shows only the new', async () => {
  equal(made.scope, 'openid', 'API scopes are not confirmed at registration');
  const agent = new Agent(app);
  const page = await agent.submit(await agent.authorize(request), { username: 'alice', password: PASSWORD });
  match(page.body, /Use your notes/);
  const done = await agent.submit(page, { action: 'allow' });
  const { body } = await requestTokens(
    app,
    { id, secret: '' },
    {
      grant_type: 'authorization_code',
      code: new URL(done.location ?? '').searchParams.get('code') ?? '',
      code_verifier: 'v'.repeat(43),
      redirect_uri: REDIRECT_URI,
    },
  );
  const claims = claimsOf(body.access_token);
  deepEqual([claims.aud, claims.scope], [OPEN, 'mcp:tools']);
  for (const name of ['role', 'roles', 'groups']) ok(!Object.hasOwn(claims, name), name);
  const wider = await agent.authorize({ ...request, scope: 'mcp:tools mcp:write' });
  match(wider.body, /Change your notes/);
  ok(!wider.body.includes('Use your notes'), 'step-up shows only the new scopes');
});

test('attack: an API’s scopes by a grant to what the agent said before a change', async () => {
  const agent = new Agent(app);
  // Agreed to above.
  const done = await agent.submit(await agent.authorize(request), { username: 'alice', password: PASSWORD });
  // As when the change ended the grants of that moment, and this one was saved right after.
  const collection = app.store.collection(grants);
  for (const { id: grantId } of await collection.findBy('client', id))
    await update(collection, grantId, (grant) => ({ value: { ...grant, statement: 'another' } }));
  const { body } = await requestTokens(
    app,
    { id, secret: '' },
    {
      grant_type: 'authorization_code',
      code: new URL(done.location ?? '').searchParams.get('code') ?? '',
      code_verifier: 'v'.repeat(43),
      redirect_uri: REDIRECT_URI,
    },
  );
  ok(!String(body.scope ?? '').includes('mcp'), JSON.stringify(body));
});

test('attack: an agent at an API that is not open to agents gets a page, no token', async () => {
  const page = await new Agent(app).authorize({ ...request, resource: CLOSED });
  deepEqual([page.status, page.location], [400, undefined]);
});
