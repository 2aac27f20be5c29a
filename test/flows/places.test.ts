// Where from: with GEOIP_FILE in the account, its API, the Admin UI and mails; without it, and in tokens, nowhere.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Agent, redeem } from '../support/agent.ts';
import { opensAccounts, startApp, type TestApp } from '../support/app.ts';
import { openMailbox } from '../support/mailbox.ts';
import { mmdb, somePlaces } from '../support/mmdb.ts';
import { newPerson, open } from './account-support.ts';

let app: TestApp;
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-places-'));
  const file = join(folder, 'places.mmdb');
  await writeFile(file, mmdb({ networks: somePlaces }));
  app = await startApp({ env: { GEOIP_FILE: file } });
});
after(async () => {
  await app.stop();
  await rm(folder, { recursive: true });
});

test('places: sessions and activity on the account’s pages, in their language', async () => {
  const user = await newPerson(app);
  const page = await open(new Agent(app), user);
  assert.equal(page.body.split('<bdi>Berlin, Germany</bdi> · <bdi dir="ltr">127.0.0.1</bdi>').length - 1, 2);
  await app.admin('PATCH', `/users/${user.id}`, { locale: 'ja' });
  assert.match((await open(new Agent(app), user)).body, /ベルリン、ドイツ/);
});

test('places: in both APIs and the Admin UI, never in tokens', async () => {
  const client = await app.register(opensAccounts);
  const user = await newPerson(app, { locale: 'de', role: 'admin' });
  const browser = new Agent(app);
  const { body } = await redeem(app, client, await browser.signIn(client.id, user));
  for (const path of ['sessions', 'activity']) {
    const answer = await fetch(`${app.url}/account/api/${path}`, {
      headers: { authorization: `Bearer ${body.access_token}` },
    });
    const { data } = JSON.parse(await answer.text());
    assert.equal(data.items[0].place, 'Berlin, Deutschland', path);
  }
  const { items = [] } = (await app.admin('GET', `/users/${user.id}/sessions`)).body.data;
  assert.equal(items[0]?.place, 'Berlin, Germany');
  await browser.follow(await browser.get('/admin'));
  for (const path of ['/admin/sessions', `/admin/users/${user.id}`])
    assert.match((await browser.get(path)).body, /Berlin, Germany/, path);
  const token = (jwt: string): string => Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString();
  for (const jwt of [body.access_token, body.id_token]) assert.doesNotMatch(token(jwt), /Berlin|Germany|DE"/);
});

test('places: the mail about a sign-in in a new browser says where', async (t) => {
  const mailbox = await openMailbox(app);
  t.after(() => mailbox.close());
  const client = await app.register(opensAccounts);
  const user = await newPerson(app);
  for (let browsers = 0; browsers < 2; browsers += 1)
    await redeem(app, client, await new Agent(app).signIn(client.id, user));
  await mailbox.deliver();
  assert.match(mailbox.received.at(-1)?.mail.text ?? '', /Berlin, Germany/);
});

test('places: without a file only the address is shown', async (t) => {
  const plain = await startApp();
  t.after(() => plain.stop());
  const user = await newPerson(plain);
  const { body } = await open(new Agent(plain), user);
  assert.match(body, /<small><bdi dir="ltr">127.0.0.1<\/bdi> ·/);
});
