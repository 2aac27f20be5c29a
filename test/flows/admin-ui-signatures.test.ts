// What is signed for an application, in the Admin UI: shown, saved, kept by forms without that part, refused at its field.
import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict';
import { after, before, test } from 'node:test';
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

const MEMBERS = [
  'id_token_signed_response_alg',
  'userinfo_signed_response_alg',
  'authorization_signed_response_alg',
];
const signed = (...values: string[]): Record<string, string> =>
  Object.fromEntries(MEMBERS.map((name, at) => [name, values[at] ?? '']));

async function save(id: string, fields: Record<string, string>): Promise<Page> {
  const page = await admin.get(`/admin/applications/${id}`);
  return admin.post(`/admin/applications/${id}`, {
    ...hiddenFields(page.body),
    client_name: 'Saved',
    redirect_uris: REDIRECT_URI,
    scope: 'openid',
    'grant_types.authorization_code': 'on',
    rotate_refresh_tokens: 'auto',
    'grant_types.refresh_token': 'on',
    ...fields,
  });
}

const storedOf = async (id: string): Promise<unknown[]> => {
  const { data } = (await app.admin('GET', `/clients/${id}`)).body;
  return MEMBERS.map((name) => data[name]);
};
const selectedIn = (page: Page, name: string): string | undefined => {
  const [, options = ''] = new RegExp(`<select id="${name}"[^>]*>(.*?)</select>`, 's').exec(page.body) ?? [];
  return /<option value="([^"]*)" selected>/.exec(options)?.[1];
};

test('page of an application: signatures are shown, saved, and reset', async () => {
  const { id } = await app.register();
  const before = await admin.get(`/admin/applications/${id}`);
  deepEqual(
    MEMBERS.map((name) => selectedIn(before, name)),
    ['RS256', '', ''],
  );
  equal((await save(id, signed('ES256', 'ES256', 'ES256'))).status, 303);
  deepEqual(await storedOf(id), ['ES256', 'ES256', 'ES256']);
  const shown = await admin.get(`/admin/applications/${id}`);
  deepEqual(
    MEMBERS.map((name) => selectedIn(shown, name)),
    ['ES256', 'ES256', 'ES256'],
  );
  // A form without that part does not name its fields.
  equal((await save(id, { fields: 'client_name redirect_uris grant_types' })).status, 303);
  deepEqual(await storedOf(id), ['ES256', 'ES256', 'ES256']);
  equal((await save(id, signed('RS256'))).status, 303);
  deepEqual(await storedOf(id), ['RS256', undefined, null]);
});

test('page of an application: what is no choice is refused at its field, the rest is kept', async () => {
  const { id } = await app.register();
  const page = await save(id, { ...signed('HS256'), client_name: 'Typed' });
  equal(page.status, 400);
  match(page.body, /<details open><summary>Signatures/);
  match(page.body, /id="id_token_signed_response_alg-error" class="problem">[^<]/);
  match(page.body, /value="Typed"/);
  deepEqual(await storedOf(id), ['RS256', undefined, null]);
});

test('page of a machine: nothing about signatures, and nothing changes', async () => {
  const { id } = await app.register({ grant_types: ['client_credentials'], redirect_uris: [] });
  const page = await admin.get(`/admin/applications/${id}`);
  doesNotMatch(page.body, /Signatures|signed_response_alg/);
});
