// What a script reads and sends back changes nothing: of every resource with a PUT, all that GET shows.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { declaredRoutes } from '../support/api-document.ts';
import { type ApiWorld, startApiWorld } from '../support/api-world.ts';
import { dataOf, type Members, wrongFields } from './answers.ts';

let world: ApiWorld;
before(async () => {
  world = await startApiWorld();
});
after(() => world.app.stop());

const puts = declaredRoutes().filter(({ method, path }) => method === 'PUT' && path.includes('{'));

/** Sends back what was read, and reads again. */
async function sendBack(address: string): Promise<void> {
  // `totp_verified: false` is an act, the reset of all second factors, and not what is sent back (decisions §6).
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
