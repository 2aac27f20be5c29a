// Issued tokens by API, in the admin API and on the pages: those of one API alone, across pages, and after it was made again.
import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict';
import { after, test } from 'node:test';
import { Agent, redeem } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';
import { createApi } from './api-support.ts';
import { requestTokensOf } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
await app.createUser('root-admin', { role: 'admin' });
for (const name of ['ann', 'ben', 'cleo']) await app.createUser(name);
const web = await app.register({ client_name: 'Shop' });
const machine = await app.register({
  grant_types: ['client_credentials'],
  redirect_uris: [],
  scope: 'openid',
});
const orders = await createApi(app, { name: 'Orders', machine_grants: { [machine.id]: ['read'] } });
const notes = await createApi(app, { name: 'Notes', identifier: `${orders.identifier}/notes` });

for (const [username, resource] of [
  ['ann', orders.identifier],
  ['ben', orders.identifier],
  ['cleo', notes.identifier],
  ['ann', undefined],
] as const) {
  const scope = resource === undefined ? 'openid offline_access' : 'openid offline_access read';
  const agent = new Agent(app);
  const signIn = await agent.signIn(web.id, { username }, { scope, ...(resource && { resource }) });
  await redeem(app, web, signIn);
}

await requestTokensOf(app, machine, { grant_type: 'client_credentials', resource: orders.identifier });

const by = (resource: string, more = '') => `/tokens?resource=${encodeURIComponent(resource)}${more}`;
async function listed(path: string) {
  const { status, body } = await app.admin('GET', path);
  equal(status, 200, JSON.stringify(body));
  return { items: body.data.items ?? [], total: body.data.total, next: body.data.next };
}

test('token list by API: its refresh tokens alone, with total and cursor', async () => {
  const all = await listed(by(orders.identifier));
  deepEqual(
    all.items.map(({ resource, kind }) => [resource, kind]),
    Array(2).fill([orders.identifier, 'refresh_token']),
  );
  equal(all.total, 2);
  equal((await listed(by(notes.identifier))).total, 1);
  const first = await listed(by(orders.identifier, '&limit=1'));
  const second = await listed(by(orders.identifier, `&limit=1&cursor=${String(first.next)}`));
  deepEqual([...first.items, ...second.items], all.items);
  equal((await listed(by(orders.identifier.slice(0, -1)))).total, 0);
});

test('token list by API: with a user access tokens too, and those of machines', async () => {
  const [owner] = (await listed(by(orders.identifier))).items;
  const own = await listed(by(orders.identifier, `&user_id=${String(owner?.user_id)}`));
  deepEqual(own.items.map(({ kind }) => kind).sort(), ['access_token', 'refresh_token']);
  equal((await listed(by(notes.identifier, `&user_id=${String(owner?.user_id)}`))).total, 0);
  const machines = by(orders.identifier, '&kind=client_credentials');
  deepEqual(
    (await listed(machines)).items.map(({ client_id: id }) => id),
    [machine.id],
  );
  equal((await listed(`${machines}&client_id=${machine.id}`)).total, 1);
  equal((await listed(`${machines}&client_id=${web.id}`)).total, 0);
  equal((await listed(by(notes.identifier, '&kind=client_credentials'))).total, 0);
  equal((await app.admin('GET', by(orders.identifier, '&kind=access_token'))).status, 400);
  equal((await app.admin('GET', '/tokens?resource=')).status, 400);
});

test('Admin UI: the page of an API leads to its tokens, and the list selects by API', async () => {
  const admin = new Agent(app);
  const signIn = await admin.follow(await admin.get('/admin'));
  await admin.submit(signIn, { username: 'root-admin', password: PASSWORD });
  const page = (await admin.get(`/admin/apis/${orders.id}`)).body;
  const links = [...page.matchAll(/href="(\/admin\/tokens\?[^"]+)"/g)].map(([, link = '']) => link);
  equal(links.length, 2, page);
  const [ofUsers, ofMachines] = await Promise.all(
    links.map(async (link) => (await admin.get(link.replaceAll('&amp;', '&'))).body),
  );
  match(ofUsers ?? '', /<option[^>]+ selected>Orders<\/option>/);
  match(ofUsers ?? '', /ann[\s\S]*Shop|ben[\s\S]*Shop/);
  doesNotMatch(ofUsers ?? '', />cleo</);
  match(ofMachines ?? '', /Client credentials/);
  doesNotMatch(ofMachines ?? '', /Select an application/);
});

test('attack: an API made again under a deleted one’s identifier has none of its tokens', async () => {
  await notes.remove();
  equal((await listed(by(notes.identifier))).total, 0);
  await createApi(app, { name: 'Notes', identifier: notes.identifier });
  equal((await listed(by(notes.identifier))).total, 0);
});
