// What the admin API and UI show of tokens and grants for APIs.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import { apis } from '../../src/store/apis.ts';
import { grants } from '../../src/store/protocol-collections.ts';
import { update } from '../../src/store/update.ts';
import { Agent } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';
import { createApi } from './api-support.ts';
import { basic, postForm, tokensOf } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
await app.createUser('root-admin', { role: 'admin' });

const itemsOf = async (path: string) => (await app.admin('GET', path)).body.data.items ?? [];

test('machine tokens: listed with the API that they are for, until it is deleted', async () => {
  const machine = await app.register({ grant_types: ['client_credentials'], redirect_uris: [] });
  const api = await createApi(app, { machine_grants: { [machine.id]: ['read'] } });
  for (const fields of [{ resource: api.identifier }, {}]) {
    const form = { grant_type: 'client_credentials', ...fields };
    equal((await postForm(app, '/oauth2/token', form, basic(machine))).status, 200);
  }
  const path = `/tokens?kind=client_credentials&client_id=${machine.id}`;
  const shown = async (): Promise<unknown[]> =>
    (await itemsOf(path)).map(({ resource, scopes }) => [resource, scopes]).toSorted();
  deepEqual(await shown(), [
    [null, []],
    [api.identifier, ['read']],
  ]);
  const admin = new Agent(app);
  const signIn = await admin.follow(await admin.get('/admin'));
  equal((await admin.submit(signIn, { username: 'root-admin', password: PASSWORD })).status, 200);
  const page = await admin.get(`/admin/tokens?kind=client_credentials&client_id=${machine.id}`);
  match(page.body, new RegExp(`at <code>${api.identifier}</code>`));
  await api.remove();
  deepEqual(await shown(), [[null, []]]);
});

test('grants: show what was granted at APIs that exist, by the names of now', async () => {
  const user = await app.createUser('alice');
  const client = await app.register();
  await tokensOf(app, client, user);
  const api = await createApi(app);
  const record = await app.store.collection(apis).find(api.id);
  const [read] = record?.value.scopes ?? [];
  ok(read);
  const [grant] = await itemsOf(`/users/${user.id}/grants`);
  deepEqual(grant?.apis, []);
  await update(app.store.collection(grants), String(grant?.id), (value) => ({
    value: { ...value, resources: { [api.id]: `${read.id} gone`, gone: read.id } },
  }));
  const shown = async (): Promise<unknown> => (await itemsOf(`/users/${user.id}/grants`))[0]?.apis;
  deepEqual(await shown(), [{ resource: api.identifier, scopes: ['read'] }]);
  await api.patch({ scopes: [{ name: 'write', description: 'Change your orders' }] });
  deepEqual(await shown(), []);
});
