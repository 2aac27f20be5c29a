// Attack: filling the places of unfinished sign-ins from as many networks as a provider gives for the asking, so that the store grows
// or nobody else can begin to sign in (decision 0012).
import { deepEqual, equal, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { interactions } from '../../src/store/protocol-collections.ts';
import { Agent, codeRequest, type Page } from '../support/agent.ts';
import { PASSWORD, SECRET_KEY, startApp, type TestApp } from '../support/app.ts';

const env = { TRUST_PROXY: '1', SECRET_KEY };
const first = await startApp({ store: 'sqlite', env });
after(() => first.stop());
const second = await startApp({ shared: first.store, env });
after(() => second.stop());
const apps = [first, second];
const client = await first.register();
const alice = await first.createUser('alice');

const OPEN = { network_factor_56: 0, network_factor_48: 0, network_factor_24: 0, network_factor_16: 0 };
const limit = async (settings: Readonly<Record<string, number>>): Promise<void> => {
  for (const { app } of apps)
    await app.settings.patch(
      { limit_open_signins_ip: 2000, limit_open_signins: 50_000, ...OPEN, ...settings },
      'test',
    );
};

const begin = (address: string, app: TestApp = first, agent = new Agent(app)): Promise<Page> =>
  agent.get(`/oauth2/authorize?${new URLSearchParams(codeRequest(client.id))}`, {
    headers: { 'x-forwarded-for': address, accept: 'text/html' },
  });
const store = first.store.ephemeral(interactions);
/** How many of the first numbered places are taken. */
async function taken(area: string, size: number): Promise<number> {
  let count = 0;
  for (let slot = 0; slot < size; slot += 1)
    count += (await store.findBy('shared_place', `${area}#${slot}`)).length;
  return count;
}
const hex = (index: number): string => index.toString(16);

/** Whatever earlier tests have begun expires. */
const forget = (): void => {
  for (const { advance } of apps) advance(2 * 3_600_000);
};

/** @returns how many of so many sign-ins could begin */
async function countBegun(count: number, addressOf: (index: number) => string): Promise<number> {
  let number = 0;
  for (let index = 0; index < count; index += 1) {
    const { status } = await begin(addressOf(index), apps[index % 2]);
    if (status === 200) number += 1;
    else equal(status, 429);
  }
  return number;
}

test('attack: unfinished sign-ins from every network of a /56, a /48, an IPv4 /24 and /16', async () => {
  await limit({
    limit_open_signins_ip: 3,
    network_factor_56: 2,
    network_factor_48: 4,
    network_factor_24: 2,
    network_factor_16: 4,
  });
  equal(await countBegun(12, (index) => `2001:db8:1:0${hex(index)}::1`), 6, '/56');
  equal(await countBegun(12, (index) => `2001:db8:1:1${hex(index)}00::1`), 6, '/48');
  equal(await countBegun(12, (index) => `198.18.1.${index}`), 6, '/24');
  equal(await countBegun(12, (index) => `198.18.${10 + index}.1`), 6, '/16');
  equal((await begin('2001:db8:2::1')).status, 200);
  equal((await begin('198.19.0.1')).status, 200);
});

test('attack: a /48 fills all places; others begin, and what they began stays', async () => {
  forget();
  await limit({ limit_open_signins: 30 });
  const addressOf = (index: number): string => `2001:db8:a:${hex(index)}::1`;
  const [typing, reading] = [new Agent(first), new Agent(second)];
  const form = await begin('192.0.2.1', first, typing);
  const wrong = await typing.submit(form, { username: 'alice', password: 'wrong' });
  const page = await begin('192.0.2.2', second, reading);
  equal(await countBegun(100, addressOf), 100, 'the oldest of the crowd make room');
  equal(await taken('*', 30), 30);
  equal((await begin('192.0.2.3')).status, 200);
  const done = await typing.submit(wrong, { username: 'alice', password: PASSWORD });
  ok(new URL(done.location ?? '').searchParams.has('code'), done.body);
  const also = await reading.submit(page, { username: 'alice', password: PASSWORD });
  ok(new URL(also.location ?? '').searchParams.has('code'), also.body);
});

test('attack: a crowd in one /24 takes no place of its neighbours in the /16', async () => {
  forget();
  await limit({ limit_open_signins: 20 });
  const neighbour = new Agent(first);
  const page = await begin('198.51.7.1', first, neighbour);
  equal(await countBegun(60, (index) => `198.51.100.${index}`), 60);
  const done = await neighbour.submit(page, { username: 'alice', password: PASSWORD });
  ok(new URL(done.location ?? '').searchParams.has('code'), done.body);
});

test('attack: a form submitted in every place; no sign-in ends', async () => {
  forget();
  await limit({ limit_open_signins: 4, limit_login_ip: 0, limit_login_account_ip: 0 });
  for (let index = 0; index < 4; index += 1) {
    const agent = new Agent(first);
    const page = await begin(`2001:db8:b:${index}::1`, first, agent);
    equal((await agent.submit(page, { username: 'nobody', password: 'wrong' })).status, 401);
  }
  const refused = await begin('192.0.2.9');
  deepEqual([refused.status, refused.location], [429, undefined]);
  ok(Number(refused.headers.get('retry-after')) > 0);
});

test('unfinished sign-ins: who is signed in needs no place of strangers', async () => {
  forget();
  await limit({ limit_open_signins: 2 });
  const agent = new Agent(first);
  await agent.signIn(client.id, alice);
  const before = await taken('*', 2);
  const page = await agent.get(
    `/oauth2/authorize?${new URLSearchParams({ ...codeRequest(client.id), prompt: 'consent' })}`,
    {
      headers: { accept: 'text/html' },
    },
  );
  equal(page.status, 200, page.body);
  equal(await taken('*', 2), before);
});

test('unfinished sign-ins: many at once, over two processes, are no more than there are places', async () => {
  forget();
  await limit({ limit_open_signins: 8 });
  const pages = await Promise.all(
    Array.from({ length: 40 }, (_, index) => begin(`203.0.${index}.1`, apps[index % 2])),
  );
  for (const { status } of pages) ok(status === 200 || status === 429, `${status}`);
  equal(await taken('*', 8), 8);
});
