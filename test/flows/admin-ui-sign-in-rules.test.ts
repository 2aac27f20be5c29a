// The rules for sign-ins to one application in the Admin UI (decision 0006): shown, saved, cleared, refused at their field.
import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ACR } from '../../src/model/acr.ts';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let admin: Agent;

before(async () => {
  app = await startApp({ store: 'sqlite' });
  await app.createUser('root-admin', { role: 'admin' });
  admin = new Agent(app);
  const signIn = await admin.follow(await admin.get('/admin'));
  equal((await admin.submit(signIn, { username: 'root-admin', password: PASSWORD })).status, 200);
});
after(() => app.stop());

async function save(id: string, fields: Record<string, string>): Promise<Page> {
  const page = await admin.get(`/admin/applications/${id}`);
  return admin.post(`/admin/applications/${id}`, {
    ...hiddenFields(page.body),
    client_name: 'Saved',
    redirect_uris: REDIRECT_URI,
    scope: 'openid',
    'grant_types.authorization_code': 'on',
    rotate_refresh_tokens: 'auto',
    ...fields,
  });
}

const rulesOf = async (id: string): Promise<unknown[]> => {
  const { data } = (await app.admin('GET', `/clients/${id}`)).body;
  return [data.required_acr, data.max_auth_age, data.logout_needs_auth];
};

test('page of an application: sign-in rules are saved, shown and cleared', async () => {
  const { id } = await app.register();
  const rules = {
    required_acr: ACR.multiFactor,
    max_auth_age: '10',
    'unit.max_auth_age': '60',
    logout_needs_auth: 'on',
  };
  equal((await save(id, rules)).status, 303);
  deepEqual(await rulesOf(id), [ACR.multiFactor, 600, true]);
  const { body } = await admin.get(`/admin/applications/${id}`);
  match(body, /<option value="urn:latchkey:acr:multi-factor" selected>/);
  match(body, /name="max_auth_age" value="10"/);
  match(
    body,
    /<select name="unit.max_auth_age"[^>]*>(?:<option value="1">seconds<\/option>)<option value="60" selected>/,
  );
  match(body, /name="logout_needs_auth" checked/);

  equal((await save(id, { required_acr: '', max_auth_age: '' })).status, 303);
  deepEqual(await rulesOf(id), [null, null, false]);
});

test('page of an application: a wrong sign-in rule is refused at its field and stays typed', async () => {
  const { id } = await app.register();
  const refused = await save(id, {
    required_acr: ACR.emailCode,
    max_auth_age: '5',
    'unit.max_auth_age': '1',
    logout_needs_auth: 'on',
  });
  equal(refused.status, 400);
  match(refused.body, /id="max_auth_age-error" class="problem">Must be from 30 seconds to 1 year\.</);
  match(refused.body, /<a href="#max_auth_age">Sign in again after<\/a> Must be from 30 seconds/);
  match(refused.body, /<option value="urn:latchkey:acr:email-code" selected>/);
  match(refused.body, /name="logout_needs_auth" checked/);
  deepEqual(await rulesOf(id), [null, null, false]);
});

test('page of an application: tokens as Keycloak has them are switched by a box', async () => {
  const { id } = await app.register();
  const keycloakTokens = async () => (await app.admin('GET', `/clients/${id}`)).body.data.keycloak_tokens;
  equal((await save(id, { keycloak_tokens: 'on' })).status, 303);
  equal(await keycloakTokens(), true);
  match((await admin.get(`/admin/applications/${id}`)).body, /name="keycloak_tokens" checked/);
  equal((await save(id, {})).status, 303);
  equal(await keycloakTokens(), false);
});

test('page of an application: a machine has no sign-in rules, a public one no authentication', async () => {
  const machine = await app.register({
    grant_types: ['client_credentials'],
    response_types: [],
    redirect_uris: [],
  });
  doesNotMatch(
    (await admin.get(`/admin/applications/${machine.id}`)).body,
    /Sign-in rules|name="max_auth_age"/,
  );
  const open = await app.register({ token_endpoint_auth_method: 'none' });
  const { body } = await admin.get(`/admin/applications/${open.id}`);
  match(body, /Sign-in rules/);
  doesNotMatch(body, /name="logout_needs_auth"/);
});

test('page of an application: audience and introspection are boxes', async () => {
  const { id } = await app.register();
  const choices = async (): Promise<unknown[]> => {
    const { data } = (await app.admin('GET', `/clients/${id}`)).body;
    return [data.access_token_audience, data.may_introspect];
  };
  deepEqual(await choices(), ['issuer', false]);
  equal((await save(id, { access_token_audience: 'on', may_introspect: 'on' })).status, 303);
  deepEqual(await choices(), ['client_id', true]);
  const { body } = await admin.get(`/admin/applications/${id}`);
  match(body, /name="access_token_audience" checked/);
  match(body, /name="may_introspect" checked/);
  equal((await save(id, {})).status, 303);
  deepEqual(await choices(), ['issuer', false]);
  const open = await app.register({ token_endpoint_auth_method: 'none' });
  doesNotMatch((await admin.get(`/admin/applications/${open.id}`)).body, /name="may_introspect"/);
});
