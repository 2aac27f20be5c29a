// "Remember me here" (interactions/remembered-people.ts): the list of people is a convenience of one browser. It signs no one
// in, tells no one who has an account, and its cookie says nothing to who reads or forges it.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import { Agent, codeRequest, type Page } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const client = await app.register();
const alice = await app.createUser('alice', { email: 'alice@example.com', name: 'Alice Liddell' });
await app.createUser('bob', { name: 'Bob' });

const COOKIE = 'latchkey_people';
const open = (agent: Agent, more: Record<string, string> = {}): Promise<Page> =>
  agent.authorize({ ...codeRequest(client.id), ...more });
const cookieOf = (agent: Agent): string =>
  agent
    .cookiesFor('/')
    .split('; ')
    .find((pair) => pair.startsWith(`${COOKIE}=`)) ?? '';
const namesOf = ({ body }: Page): string[] =>
  [...body.matchAll(/<li class="chip">[\s\S]*?<bdi>([^<]*)<\/bdi>/g)].map(([, name = '']) => name);
const waysOf = ({ body }: Page): string[] =>
  [...body.matchAll(/<li class="chip"><a href="([^"]*)"/g)].map(([, url = '']) =>
    url.replaceAll('&amp;', '&'),
  );
const asksForName = ({ body }: Page): boolean => /<input id="username"/.test(body);

async function remembered(...usernames: string[]): Promise<Agent> {
  const agent = new Agent(app);
  for (const username of usernames) {
    const page = await open(agent, { login_hint: username });
    const done = await agent.submit(page, { username, password: PASSWORD, remember: 'on' });
    match(done.location ?? '', /code=/);
    await agent.get(`${app.url}/oauth2/logout`);
  }
  return agent;
}

test('remembered: only who asked for it, and only once the sign-in is complete', async () => {
  const agent = new Agent(app);
  await agent.submit(await open(agent), { username: 'alice', password: 'wrong', remember: 'on' });
  equal(cookieOf(agent), '');
  await agent.submit(await open(agent), { username: 'alice', password: PASSWORD });
  equal(cookieOf(agent), '');
  deepEqual(namesOf(await open(await remembered('alice'))), ['Alice Liddell']);
});

test('remembered: chosen by a link, and then the password is still due', async () => {
  const agent = await remembered('alice', 'bob');
  const page = await open(agent);
  deepEqual(namesOf(page), ['Bob', 'Alice Liddell'], 'the latest first');
  ok(!asksForName(page));
  const chosen = await agent.get(new URL(waysOf(page)[1] ?? '', app.url).href);
  ok(!asksForName(chosen));
  match(chosen.body, /Alice Liddell/);
  equal((await agent.submit(chosen, { password: 'wrong' })).status, 401);
  match((await agent.submit(chosen, { password: PASSWORD })).location ?? '', /code=/);
});

test('remembered: removed one by one, here alone; a deleted account leaves by itself', async () => {
  await app.createUser('carol');
  const agent = await remembered('alice', 'carol');
  const page = await open(agent);
  const [, handle = ''] = /name="forget" value="([^"]*)"/.exec(page.body) ?? [];
  deepEqual(namesOf(await agent.submit(page, { forget: handle })), ['Alice Liddell']);
  const { body } = await app.admin('GET', '/users?search=carol');
  const other = await remembered('carol', 'alice');
  await app.admin('DELETE', `/users/${body.data.items?.[0]?.id}`);
  deepEqual(namesOf(await open(other)), ['Alice Liddell']);
});

test('remembered: login_hint and prompt say who is meant', async () => {
  const agent = await remembered('alice', 'bob');
  const hinted = await open(agent, { login_hint: 'ALICE@example.com' });
  deepEqual([namesOf(hinted), asksForName(hinted)], [[], false]);
  match(hinted.body, /Alice Liddell/);
  const stranger = await open(agent, { login_hint: 'dave' });
  deepEqual([namesOf(stranger), asksForName(stranger)], [[], true]);
  const page = await open(agent);
  const bob = await agent.get(new URL(waysOf(page)[0] ?? '', app.url).href);
  await agent.submit(bob, { password: PASSWORD });
  const select = await open(agent, { prompt: 'select_account' });
  match(select.body, /Continue as Bob/);
  deepEqual(namesOf(select), ['Alice Liddell']);
});

test('attack: a stolen list of people signs no one in', async () => {
  const owner = await remembered('alice');
  const thief = new Agent(app);
  thief.plant(cookieOf(owner));
  const page = await open(thief);
  const chosen = await thief.get(new URL(waysOf(page)[0] ?? '', app.url).href);
  equal((await thief.submit(chosen, { action: 'continue' })).status, 400);
  equal((await thief.submit(chosen, { password: '' })).status, 401);
  match((await open(thief, { prompt: 'none' })).location ?? '', /error=login_required/);
  // Nor does it make the thief's browser one that the account knows.
  ok(!thief.cookiesFor('/').includes('latchkey_known'));
});

test('attack: a forged or altered list of people is none', async () => {
  const real = cookieOf(await remembered('alice'));
  const [name = '', value = ''] = real.split('=');
  for (const forged of [
    Buffer.from(alice.id).toString('base64url'),
    alice.id,
    `${value.slice(0, -2)}AA`,
    `${value}.x`,
    value.replace('v1', 'v2'),
    'v1....',
    'x'.repeat(3000),
  ]) {
    const agent = new Agent(app);
    agent.plant(`${name}=${forged}`);
    const page = await open(agent);
    deepEqual([page.status, namesOf(page), asksForName(page)], [200, [], true], forged.slice(0, 40));
  }
});

test('attack: the list tells no one in another browser who has an account', async () => {
  const agent = await remembered('alice');
  const page = await open(agent);
  const handle = new URL(waysOf(page)[0] ?? '', app.url).searchParams.get('as') ?? '';
  const stranger = new Agent(app);
  const theirs = await open(stranger);
  const { interaction = '' } = { interaction: /name="interaction" value="([^"]*)"/.exec(theirs.body)?.[1] };
  const plain = (text: string): string => text.replace(/nonce="[^"]*"|value="[^"]*"|as=[\w-]*/g, '');
  const seen = await Promise.all(
    [handle, 'invented', alice.id].map(async (as) =>
      plain((await stranger.get(`${app.url}/oauth2/login?interaction=${interaction}&as=${as}`)).body),
    ),
  );
  equal(new Set(seen).size, 1);
  ok(!seen[0]?.includes('Alice'));
  equal(cookieOf(stranger), '');
});

test('attack: scripts and backups read no name from the cookie', async () => {
  const agent = new Agent(app);
  const form = await open(agent);
  const fields = Object.fromEntries(
    ['csrf', 'interaction', 'client_id'].map((name) => [
      name,
      new RegExp(`name="${name}" value="([^"]*)"`).exec(form.body)?.[1] ?? '',
    ]),
  );
  const answer = await agent.post(`${app.url}/oauth2/login`, {
    ...fields,
    username: 'alice',
    password: PASSWORD,
    remember: 'on',
  });
  const line = answer.headers.getSetCookie().find((one) => one.startsWith(`${COOKIE}=`)) ?? '';
  match(line, /; httponly/i);
  match(line, /; samesite=lax/i);
  for (const secret of ['alice', 'Alice', alice.id, Buffer.from(alice.id).toString('base64url')])
    ok(!line.includes(secret), secret);
});
