// The picture that a person gives of themselves: /account/picture, /account/api/avatar, where it is shown, and its end.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { avatars } from '../../src/store/avatars.ts';
import { Agent, codeRequest, hiddenFields, type Page, redeem } from '../support/agent.ts';
import { PASSWORD, type TestApp } from '../support/app.ts';
import { colourAt, halves, jpeg, sizeOf } from '../support/pictures.ts';
import { accessTokenOf, eachWithPerson, eventsOf, open, press, STALE_MS } from './account-support.ts';
import type { User } from './support.ts';

const PICTURE = '/account/picture';

let app: TestApp;
let client: { readonly id: string; readonly secret: string };
let user: User & { email: string };
let browser: Agent;

eachWithPerson(
  (given) => {
    ({ app, client, user, browser } = given);
  },
  { fields: { given_name: 'Grace' } },
);

async function upload(file: Buffer, fields: Record<string, string> = {}): Promise<Page> {
  const page = await open(browser, user, PICTURE);
  const form = new FormData();
  form.append('csrf', hiddenFields(page.body).csrf ?? '');
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('picture', new Blob([new Uint8Array(file)], { type: 'image/jpeg' }), 'me.jpg');
  return browser.follow(await browser.request(PICTURE, { method: 'POST', body: form }));
}

const stored = async () => (await app.admin('GET', `/users/${user.id}`)).body.data;
const kept = () => app.store.collection(avatars).findBy('account', user.id);

async function fetched(url: string): Promise<{ readonly answer: Response; readonly bytes: Buffer }> {
  const answer = await fetch(url);
  return { answer, bytes: Buffer.from(await answer.arrayBuffer()) };
}

async function ownAddress(): Promise<string> {
  const { avatar_id: id } = await stored();
  assert.equal(typeof id, 'string');
  return `${app.url}/avatars/${id}/256.jpg`;
}

async function claims() {
  const { body } = await redeem(app, client, await browser.signIn(client.id, user));
  const headers = { authorization: `Bearer ${body.access_token}` };
  return JSON.parse(await (await fetch(`${app.url}/oauth2/userinfo`, { headers })).text());
}

test('own picture: uploaded, shown on the account’s pages, and served small and large', async () => {
  const page = await upload(await jpeg());
  assert.equal(page.status, 200);
  assert.match(page.body, /Your picture is saved/);
  const url = await ownAddress();
  const path = new URL(url).pathname.replace('256', '96');
  assert.ok(page.body.includes(`<img src="${path}"`), 'on the profile');
  assert.ok((await open(browser, user)).body.includes(path), 'at home');
  const { answer, bytes } = await fetched(url);
  assert.equal(answer.headers.get('content-type'), 'image/jpeg');
  assert.equal(answer.headers.get('cache-control'), 'private, max-age=31536000, immutable');
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
  assert.match(answer.headers.get('content-security-policy') ?? '', /^default-src 'none'/);
  assert.equal(answer.headers.get('cross-origin-resource-policy'), 'cross-origin');
  assert.equal(answer.headers.get('set-cookie'), null);
  assert.deepEqual(
    [await sizeOf(bytes), await sizeOf((await fetched(`${app.url}${path}`)).bytes)],
    ['jpeg 256x256', 'jpeg 96x96'],
  );
  const again = await fetch(url, {
    headers: { 'if-none-match': answer.headers.get('etag') ?? '', 'cache-control': 'max-age=0' },
  });
  assert.equal(again.status, 304);
  const [event] = await eventsOf(app, 'avatar.changed', user);
  assert.equal(event?.actor_id, user.id);
  assert.match((await open(browser, user)).body, /Profile changed/);
});

test('own picture: the middle without a script, the chosen square with one', async () => {
  await upload(await jpeg());
  const middle = (await fetched(await ownAddress())).bytes;
  assert.deepEqual([await colourAt(middle, 20, 50), await colourAt(middle, 80, 50)], ['red', 'blue']);
  await upload(await jpeg(), { crop_x: '210', crop_y: '10', crop_size: '150' });
  const right = (await fetched(await ownAddress())).bytes;
  assert.deepEqual([await colourAt(right, 5, 5), await colourAt(right, 95, 95)], ['blue', 'blue']);
  // Beyond the edge: as far as there is a picture.
  await upload(await jpeg(), { crop_x: '99999', crop_y: '0', crop_size: '99999' });
  assert.equal((await kept()).length, 1);
});

test('own picture: PNG, WebP and the first frame of GIF, transparent parts white', async () => {
  for (const file of [
    await halves().png().toBuffer(),
    await halves().webp().toBuffer(),
    await halves().gif().toBuffer(),
  ]) {
    assert.match((await upload(file)).body, /Your picture is saved/);
    const { bytes } = await fetched(await ownAddress());
    assert.deepEqual([await colourAt(bytes, 20, 50), await colourAt(bytes, 80, 50)], ['red', 'blue']);
  }
});

test('own picture: nothing chosen, and what is no picture, are said at the field', async () => {
  assert.match((await upload(Buffer.alloc(0))).body, /href="#picture"[^<]*<\/a> Choose a picture first/);
  const page = await upload(Buffer.from('not a picture'));
  assert.equal(page.status, 400);
  assert.match(page.body, /not a PNG, JPEG, WebP or GIF/);
  assert.equal((await stored()).avatar_id, null);
});

test('own picture: a new one has a new address, and the old address has nothing', async () => {
  await upload(await jpeg());
  const first = await ownAddress();
  await upload(await halves(90, 90).jpeg().toBuffer());
  assert.notEqual(await ownAddress(), first);
  assert.equal((await fetch(first)).status, 404);
  assert.equal((await kept()).length, 1);
});

test('own picture: removed by a button, without a fresh sign-in', async () => {
  await upload(await jpeg());
  const url = await ownAddress();
  const page = await open(browser, user, PICTURE);
  app.advance(STALE_MS);
  const done = await press(browser, page, `${PICTURE}/remove`);
  assert.match(done.body, /Your picture is removed/);
  assert.equal((await fetch(url)).status, 404);
  assert.equal((await stored()).avatar_id, null);
  assert.equal((await kept()).length, 0);
  assert.equal((await eventsOf(app, 'avatar.removed', user)).length, 1);
  assert.doesNotMatch(done.body, /\/avatars\//);
});

test('claim picture: the person’s own comes before the administrator’s, which comes back', async () => {
  const entered = 'https://people.example/grace.png';
  await app.admin('PATCH', `/users/${user.id}`, { picture: entered });
  assert.equal((await claims()).picture, entered);
  await upload(await jpeg());
  const own = await ownAddress();
  assert.equal((await claims()).picture, own);
  assert.equal((await stored()).picture, entered, 'the administrator’s value stays');
  await press(browser, await open(browser, user, PICTURE), `${PICTURE}/remove`);
  assert.equal((await claims()).picture, entered);
});

test('own picture: shown at consent, to remembered people and in the Admin UI', async () => {
  await upload(await jpeg());
  const path = new URL(await ownAddress()).pathname.replace('256', '96');
  const theirs = await app.register({ skip_consent: false });
  const consent = await browser.authorize({ ...codeRequest(theirs.id), scope: 'openid profile' });
  assert.match(consent.body, /\/oauth2\/consent/);
  assert.equal(consent.body.split(path).length - 1, 2, 'between the two, and in the chip');
  const home = new Agent(app);
  const signIn = await home.authorize(codeRequest(client.id));
  await home.submit(signIn, { username: user.username, password: PASSWORD, remember: 'on' });
  await home.get('/oauth2/logout');
  assert.ok((await home.authorize(codeRequest(client.id))).body.includes(path), 'in the list to choose from');
  await app.admin('PATCH', `/users/${user.id}`, { role: 'admin' });
  await open(browser, user, '/admin');
  const page = await browser.follow(await browser.get(`/admin/users/${user.id}`));
  assert.equal(page.body.split(path).length - 1, 2, 'in the header, and as the page’s title');
  assert.match(page.body, /Remove picture/);
  const list = await browser.get(`/admin/users?search=${user.username}`);
  assert.equal(list.body.split(path).length - 1, 2, 'in the header, and in the list');
});

test('own picture: removed by an administrator, whose act is recorded', async () => {
  await upload(await jpeg());
  const url = await ownAddress();
  const { status, body } = await app.admin('POST', `/users/${user.id}/remove-picture`);
  assert.deepEqual([status, body.data.avatar_id], [200, null]);
  assert.equal((await fetch(url)).status, 404);
  const [event] = await eventsOf(app, 'avatar.removed', user);
  assert.notEqual(event?.actor_id, user.id);
});

async function apiOf(person: User) {
  const token = await accessTokenOf(app, client, person);
  return async (method: string, path: string, body?: Buffer, type = 'image/jpeg') => {
    const answer = await fetch(`${app.url}/account/api/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': type }) },
      ...(body && { body: new Uint8Array(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
  };
}

test('account API: the square that the parameters of PUT avatar name, else the middle', async () => {
  const api = await apiOf(user);
  const coloursOf = async (query: string) => {
    const { status, body } = await api('PUT', `avatar${query}`, await jpeg());
    assert.equal(status, 200, JSON.stringify(body));
    const { bytes } = await fetched(body.data.picture);
    return [await colourAt(bytes, 5, 50), await colourAt(bytes, 95, 50)];
  };
  assert.deepEqual(await coloursOf(''), ['red', 'blue']);
  assert.deepEqual(await coloursOf('?crop_x=210&crop_y=10&crop_size=150'), ['blue', 'blue']);
  assert.deepEqual(await coloursOf('?crop_x=0&crop_y=0&crop_size=150'), ['red', 'red']);
  // Beyond the edge: as far as there is a picture.
  assert.deepEqual(await coloursOf('?crop_x=99999&crop_y=99999&crop_size=150'), ['blue', 'blue']);
});

test('attack: squares of a picture that are none, each parameter named, nothing kept', async () => {
  const api = await apiOf(user);
  const cases: [string, string[]][] = [
    ['crop_x=1', ['crop_size', 'crop_y']],
    ['crop_x=1&crop_y=1&crop_size=0', ['crop_size']],
    ['crop_x=-1&crop_y=1&crop_size=5', ['crop_x']],
    ['crop_x=1.5&crop_y=1e3&crop_size=0x5', ['crop_size', 'crop_x', 'crop_y']],
    ['crop_x=100000&crop_y=1&crop_size=5', ['crop_x']],
    ['crop_x=%D9%A1&crop_y=&crop_size=5', ['crop_x', 'crop_y']],
    ['crop_x=1&crop_x=2&crop_y=1&crop_size=5', ['crop_x']],
    ['crop_x=1;--help&crop_y=1&crop_size=--inspect', ['crop_size', 'crop_x']],
  ];
  for (const [query, names] of cases) {
    const { status, body } = await api('PUT', `avatar?${query}`, await jpeg());
    assert.deepEqual([status, body.error.reason], [400, 'request.invalid'], query);
    assert.deepEqual(Object.keys(body.error.fields).sort(), names, query);
  }
  assert.equal((await stored()).avatar_id, null);
});

test('account API: PUT and DELETE avatar, and the profile says which', async () => {
  const api = await apiOf(user);
  app.advance(STALE_MS);
  const put = await api('PUT', 'avatar', await jpeg());
  assert.deepEqual([put.status, put.body.data.picture], [200, await ownAddress()]);
  const { data } = (await api('GET', 'profile')).body;
  assert.deepEqual([data.picture, data.has_avatar], [await ownAddress(), true]);
  assert.equal((await api('DELETE', 'avatar')).status, 204);
  assert.equal((await api('DELETE', 'avatar')).status, 204, 'none is no error');
  assert.deepEqual((await api('GET', 'profile')).body.data.has_avatar, false);
  const html = await api('PUT', 'avatar', await jpeg(), 'text/html');
  assert.deepEqual([html.status, html.body.error.reason], [415, 'request.unsupported_media_type']);
});

test('own picture: in the owner’s data, and gone with the account', async () => {
  await upload(await jpeg());
  const url = await ownAddress();
  const { csrf = '' } = hiddenFields((await open(browser, user, '/account/data')).body);
  const data = JSON.parse((await browser.post('/account/data', { csrf, id: 'json' })).body);
  const { bytes } = await fetched(url);
  assert.equal(data.picture[0].file, `data:image/jpeg;base64,${bytes.toString('base64')}`);
  const readable = await browser.post('/account/data', { csrf, id: 'html' });
  assert.match(readable.body, /<img src="data:image\/jpeg;base64,/);
  await app.admin('DELETE', `/users/${user.id}`);
  assert.equal((await fetch(url)).status, 404);
  assert.equal((await kept()).length, 0);
});
