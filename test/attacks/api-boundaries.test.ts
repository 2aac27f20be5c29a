// Attacks on the boundaries between APIs, applications and users (decisions 0003 and 0026): roles taken where nobody agreed to them,
// an API's credentials used for what is not its own, and a machine at an API that is open to all applications.
import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict';
import { after, test } from 'node:test';
import { createApi, seenBy } from '../flows/api-support.ts';
import { basic, type Client, claimsOf, introspect, postForm } from '../flows/support.ts';
import { Agent, codeRequest, redeem, refresh, requestTokens, type Tokens } from '../support/agent.ts';
import { startApp } from '../support/app.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const root = await app.createUser('root', { role: 'admin' });
const PLAIN = 'openid profile offline_access';
const partner = await app.register({ scope: PLAIN, skip_consent: false, client_name: 'Partner' });
const own = await app.register({ scope: PLAIN });

async function tokensOf(by: Client, resource: string): Promise<Tokens['body']> {
  const agent = new Agent(app);
  const signIn = await agent.signIn(by.id, root, { scope: 'openid read offline_access', resource });
  const { status, body } = await redeem(app, by, signIn);
  equal(status, 200, JSON.stringify(body));
  return body;
}

test('attack: roles laundered by a third party through an API that declares them', async () => {
  const scopes = [{ name: 'read', description: 'See your orders', is_default: true }];
  const api = await createApi(app, { scopes, claims: ['profile', 'roles', 'groups'] });
  for (const client of [partner, own]) {
    const { access_token: token } = await tokensOf(client, api.identifier);
    const seen = [claimsOf(token), await seenBy(app, api, token), (await introspect(app, token)).body];
    for (const claims of seen) {
      equal(claims.sub, root.id);
      deepEqual([claims.role, claims.roles, claims.groups], [undefined, undefined, undefined]);
      doesNotMatch(JSON.stringify(claims), /"admin"/);
    }
    match(JSON.stringify(seen[1]), /"preferred_username":"root"/, 'what it may have is there');
  }
  equal((await app.admin('PATCH', `/clients/${partner.id}`, { scope: `${PLAIN} roles` })).status, 200);
  const agent = new Agent(app);
  await agent.signIn(own.id, root);
  const page = await agent.authorize({
    ...codeRequest(partner.id),
    scope: 'openid read',
    resource: api.identifier,
  });
  match(page.body, /See your role/, 'consent to the API without roles is none to the API with them');
});

test('attack: an API’s credentials ask about refresh tokens, ID tokens and what is another’s', async () => {
  const [api, other] = [await createApi(app), await createApi(app)];
  const tokens = await tokensOf(own, api.identifier);
  equal((await seenBy(app, api, tokens.access_token)).active, true);
  const plain = (await requestTokensOfUser()).access_token;
  for (const token of [
    tokens.refresh_token,
    String(tokens.id_token),
    plain,
    api.credentials.secret,
    api.credentials.id,
  ])
    deepEqual(await seenBy(app, api, token), { active: false });
  deepEqual(await seenBy(app, other, tokens.access_token), { active: false });
  const hint = { token: tokens.refresh_token, token_type_hint: 'refresh_token' };
  deepEqual((await postForm(app, '/oauth2/introspect', hint, basic(api.credentials))).body, {
    active: false,
  });
});

async function requestTokensOfUser(): Promise<Tokens['body']> {
  const { body } = await redeem(app, own, await new Agent(app).signIn(own.id, root));
  return body;
}

test('attack: a machine at an API that is open to all applications, by every grant type it has', async () => {
  const api = await createApi(app, { clients: 'all' });
  const fields = { grant_types: ['client_credentials', 'authorization_code', 'refresh_token'], scope: PLAIN };
  const machine = await app.register(fields);
  for (const asked of [{}, { scope: 'read' }, { scope: `${api.identifier}/.default` }]) {
    const request = { grant_type: 'client_credentials', resource: api.identifier, ...asked };
    const { status, body } = await requestTokens(app, machine, request);
    deepEqual([status, body.error], [400, 'invalid_target']);
  }
  // What a user gave it at that API is the user's: the machine gets nothing of it by itself.
  const tokens = await tokensOf(machine, api.identifier);
  equal((await refresh(app, machine, tokens.refresh_token)).body.scope, 'read');
  const alone = await requestTokens(app, machine, {
    grant_type: 'client_credentials',
    resource: api.identifier,
  });
  deepEqual([alone.status, alone.body.error], [400, 'invalid_target']);
});
