// What a script reads and sends back changes nothing: of every resource with a PUT, all that GET shows.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { declaredRoutes } from '../support/api-document.ts';
import { type ApiWorld, startApiWorld } from '../support/api-world.ts';
import { dataOf, itemsOf, type Members, wrongFields } from './answers.ts';

let world: ApiWorld;
before(async () => {
  world = await startApiWorld();
});
after(() => world.app.stop());

const puts = declaredRoutes().filter(({ method, path }) => method === 'PUT' && path.includes('{'));

/** Sends back what was read, and reads again. */
async function sendBack(address: string): Promise<void> {
  // `totp_verified: false` is an act, the reset of all second factors, and not what is sent back (decision 0010).
  const acts = ['totp_verified'];
  const read = async (): Promise<Members> => dataOf(await world.api('GET', address));
  const before = await read();
  const sent = Object.fromEntries(Object.entries(before).filter(([name]) => !acts.includes(name)));
  ok(Object.keys(sent).length > 0);
  const answer = await world.api('PUT', address, sent);
  equal(answer.status, 200, answer.text);
  const { updated_at: _was, ...members } = before;
  const { updated_at: _is, ...after } = await read();
  deepEqual(after, members);
}

for (const route of puts) {
  test(`round trip: PUT ${route.path} of what GET shows changes nothing`, () =>
    sendBack(world.addressOf(route)));
}

const kinds: Readonly<Record<string, Members>> = {
  'that said nothing': {},
  'that requires PKCE': { require_pkce: true },
  'that posts by choice': { token_endpoint_auth_method: 'client_secret_post' },
  'that is public': { token_endpoint_auth_method: 'none' },
  'of a machine': { grant_types: ['client_credentials'], response_types: [], redirect_uris: [] },
  'with settings': { allowed_groups: ['staff'], access_token_seconds: 600, skip_consent: false },
  'with tokens as Keycloak has them': { keycloak_tokens: true },
  'with tokens bound to a key': { dpop_bound_access_tokens: true },
  'with web origins': { web_origins: ['https://app.example.com'] },
};
for (const [kind, metadata] of Object.entries(kinds)) {
  test(`round trip: an application ${kind} is unchanged, twice`, async () => {
    const { id } = await world.app.register(metadata);
    for (let turn = 0; turn < 2; turn += 1) await sendBack(`/clients/${id}`);
  });
}

test('round trip: a client that posts its secret, or sends it in the header, goes on working', async () => {
  const { app } = world;
  const { id, secret } = await app.register({
    grant_types: ['client_credentials'],
    response_types: [],
    redirect_uris: [],
  });
  const form = { grant_type: 'client_credentials', client_id: id, client_secret: secret };
  const post = async (): Promise<number> =>
    (await fetch(`${app.url}/oauth2/token`, { method: 'POST', body: new URLSearchParams(form) })).status;
  equal(await post(), 200);
  await sendBack(`/clients/${id}`);
  equal(await post(), 200);
  const chosen = { token_endpoint_auth_method: 'client_secret_post' };
  equal((await world.api('PATCH', `/clients/${id}`, chosen)).status, 200);
  equal(await post(), 200);
});

test('round trip: a fixed member that says something else is refused by name', async () => {
  const { id } = await world.app.register();
  const before = dataOf(await world.api('GET', `/clients/${id}`));
  for (const method of ['PUT', 'PATCH'] as const) {
    const changed = { ...before, created_at: '2001-01-01T00:00:00.000Z', client_id: 'another' };
    const answer = await world.api(method, `/clients/${id}`, changed);
    deepEqual([answer.status, wrongFields(answer)], [400, ['client_id', 'created_at']]);
    // A member that is neither taken nor shown stays an unknown one.
    deepEqual(wrongFields(await world.api(method, `/clients/${id}`, { ...before, shoe_size: 44 })), [
      'shoe_size',
    ]);
  }
  deepEqual(dataOf(await world.api('GET', `/clients/${id}`)), before);
});

const secret = 'smtp://robot:hunter2@127.0.0.1:9';

const readSettings = async (): Promise<Members[]> => itemsOf(await world.api('GET', '/settings'));
const byName = (items: readonly Members[]): Members =>
  Object.fromEntries(items.map(({ key, value }) => [String(key), value]));

test('round trip: settings sent back as shown change nothing and keep secrets', async () => {
  const { app, api } = world;
  const set = { product_name: 'Acme', lockout_threshold: 7, smtp_url: secret };
  equal((await api('PATCH', '/settings', set)).status, 200);
  const before = await readSettings();
  equal(before.find(({ key }) => key === 'smtp_url')?.value, null);
  for (const method of ['PUT', 'PATCH'] as const) {
    // A changed author or time would show.
    app.advance(1000);
    const answer = await api(method, '/settings', { items: before });
    equal(answer.status, 200, answer.text);
    deepEqual(await readSettings(), before);
    equal(app.app.settings.current().smtp_url, secret);
  }
});

test('settings: null by name is the default of every one, a secret too', async () => {
  const { app, api } = world;
  const set = { product_name: 'Acme', lockout_threshold: 7, smtp_url: secret, mail_from: 'a@example.com' };
  equal((await api('PATCH', '/settings', set)).status, 200);
  const all = await readSettings();
  const nulls = Object.fromEntries(all.map(({ key }) => [String(key), null]));
  const answer = await api('PATCH', '/settings', nulls);
  equal(answer.status, 200, answer.text);
  for (const { key, value, default: standard, is_secret: isSecret, updated_at: at } of itemsOf(answer))
    deepEqual([key, value, at], [key, isSecret ? null : standard, null]);
  equal(app.app.settings.current().smtp_url, '');
  equal((await api('PATCH', '/settings', set)).status, 200);
  equal((await api('PATCH', '/settings', { smtp_url: null })).status, 200);
  deepEqual([app.app.settings.current().smtp_url, app.app.settings.current().product_name], ['', 'Acme']);
});

test('round trip: settings sent back with one value changed change only that', async () => {
  const { app, api } = world;
  equal((await api('PATCH', '/settings', { smtp_url: secret, lockout_threshold: 7 })).status, 200);
  const before = await readSettings();
  const items = before.map((item) => (item.key === 'product_name' ? { ...item, value: 'Porter' } : item));
  for (const method of ['PUT', 'PATCH'] as const) {
    equal((await api('PATCH', '/settings', { product_name: 'Acme' })).status, 200);
    const answer = await api(method, '/settings', { items: items.map(({ key, value }) => ({ key, value })) });
    equal(answer.status, 200, answer.text);
    const { product_name: name, ...others } = byName(await readSettings());
    const { product_name: _, ...unchanged } = byName(before);
    deepEqual([name, others], ['Porter', unchanged]);
    equal(app.app.settings.current().smtp_url, secret);
  }
  // What a PUT leaves out goes back to its default, a secret too.
  equal((await api('PUT', '/settings', { product_name: 'Acme' })).status, 200);
  equal(app.app.settings.current().smtp_url, '');
});

test('round trip: settings as shown whose description says something else are refused by name', async () => {
  const before = await readSettings();
  const at = before.findIndex(({ key }) => key === 'lockout_threshold');
  const send = (change: Members) =>
    world.api('PUT', '/settings', {
      items: before.map((item, index) => (index === at ? { ...item, ...change } : item)),
    });
  const changed = await send({ default: 3, is_secret: true, shoe_size: 44 });
  deepEqual(
    [changed.status, wrongFields(changed)],
    [400, [`items.${at}.default`, `items.${at}.is_secret`, `items.${at}.shoe_size`]],
  );
  deepEqual(wrongFields(await send({ key: 'product_name' })).includes(`items.${at}.default`), true);
  deepEqual(wrongFields(await send({ value: 0 })), ['lockout_threshold']);
  const bare = await world.api('PUT', '/settings', { items: ['x', { key: 'product_name' }], more: 1 });
  deepEqual(wrongFields(bare), ['items.0', 'items.1.value', 'more']);
  deepEqual(await readSettings(), before);
});
