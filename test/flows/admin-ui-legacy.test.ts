// The legacy profile in the Admin UI (docs/legacy.md): shown while the setting is on, saved, cleared, refused at its field.
import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp, type TestApp } from '../support/app.ts';
import { change } from './support.ts';

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
    'grant_types.refresh_token': 'on',
    ...fields,
  });
}

const PART = {
  profile: 'on',
  'response_types.id_token': 'on',
  'response_types.code id_token': 'on',
  request_uris: 'https://rp.example/a.jwt\nhttps://rp.example/b.jwt',
  frontchannel_logout_uri: 'https://rp.example/out',
};

const storedOf = async (id: string): Promise<unknown[]> => {
  const { data } = (await app.admin('GET', `/clients/${id}`)).body;
  const { profile, response_types: types, request_uris: uris, frontchannel_logout_uri: out } = data;
  return [profile, types, uris, out];
};

test('page of an application: nothing of the profile without the setting', async () => {
  const { id } = await app.register();
  doesNotMatch((await admin.get(`/admin/applications/${id}`)).body, /request_uris|Legacy profile/);
  doesNotMatch((await admin.get('/admin/registration-tokens')).body, /Legacy profile/);
  equal((await save(id, {})).status, 303);
  deepEqual(await storedOf(id), [null, ['code'], undefined, undefined]);
});

test('page of an application: the profile is saved, shown and cleared', async () => {
  await change(app, { legacy_profiles: true });
  const { id } = await app.register();
  equal((await save(id, PART)).status, 303);
  const uris = ['https://rp.example/a.jwt', 'https://rp.example/b.jwt'];
  deepEqual(await storedOf(id), [
    'legacy',
    ['code', 'code id_token', 'id_token'],
    uris,
    PART.frontchannel_logout_uri,
  ]);
  const { body } = await admin.get(`/admin/applications/${id}`);
  match(body, /name="profile" checked/);
  match(body, /name="response_types.code id_token" checked/);
  match(body, /rp\.example\/b\.jwt/);
  equal((await save(id, { frontchannel_logout_uri: PART.frontchannel_logout_uri })).status, 303);
  deepEqual(await storedOf(id), [null, ['code'], undefined, PART.frontchannel_logout_uri]);
  equal((await save(id, { frontchannel_logout_uri: '' })).status, 303);
  deepEqual(await storedOf(id), [null, ['code'], undefined, undefined]);
});

test('page of an application: what is wrong is refused at its field and stays typed', async () => {
  const { id } = await app.register();
  const refused = await save(id, { ...PART, frontchannel_logout_uri: 'https://evil.example/' });
  equal(refused.status, 400);
  match(refused.body, /id="frontchannel_logout_uri-error" class="problem">[^<]*same origin/);
  match(refused.body, /name="response_types.id_token" checked/);
  const local = await save(id, {
    ...PART,
    redirect_uris: 'http://127.0.0.1/cb',
    frontchannel_logout_uri: '',
  });
  equal(local.status, 400);
  match(local.body, /class="problem">[^<]*https/);
  deepEqual(await storedOf(id), [null, ['code'], undefined, undefined]);
});

test('page of an application: kept with the setting off, and for a machine there is none', async () => {
  const { id } = await app.register();
  equal((await save(id, PART)).status, 303);
  await change(app, { legacy_profiles: false });
  equal((await save(id, { profile: 'on' })).status, 303);
  await change(app, { legacy_profiles: true });
  const [profile, types] = await storedOf(id);
  deepEqual([profile, types], ['legacy', ['code', 'code id_token', 'id_token']]);
  const machine = await app.register({
    grant_types: ['client_credentials'],
    response_types: [],
    redirect_uris: [],
  });
  doesNotMatch((await admin.get(`/admin/applications/${machine.id}`)).body, /request_uris/);
});

test('page of an application: its request objects are among the addresses that are called', async () => {
  const uri = 'https://10.0.0.1/request.jwt';
  const { id } = await app.register({ profile: 'legacy', request_uris: [uri] });
  const { body } = await admin.get(`/admin/applications/${id}`);
  match(body, /<b>Request object<\/b>[\s\S]*?10\.0\.0\.1[\s\S]*?It cannot be called/);
});

test('registration tokens: one may carry the profile', async () => {
  const page = await admin.get('/admin/registration-tokens');
  match(page.body, /name="profile"/);
  const made = await admin.post('/admin/registration-tokens', {
    ...hiddenFields(page.body),
    label: 'old',
    uses: '1',
    hours: '1',
    profile: 'on',
  });
  equal(made.status, 303);
  const { body } = await app.admin('GET', '/initial-access-tokens');
  deepEqual(
    body.data.items?.map(({ profile }) => profile),
    ['legacy'],
  );
  match((await admin.get('/admin/registration-tokens')).body, /legacy profile/);
});
