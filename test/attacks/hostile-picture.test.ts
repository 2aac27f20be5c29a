// Attack: a picture as a weapon (CVE-2023-4863 in libwebp, ImageTragick CVE-2016-3714; OWASP File Upload Cheat Sheet). What is
// sent is never served: a process of its own decodes it, and only the pixels of a small JPEG remain.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { avatars } from '../../src/store/avatars.ts';
import { eachWithPerson, newPerson, open } from '../flows/account-support.ts';
import { change, type User } from '../flows/support.ts';
import { Agent, hiddenFields, type Page, redeem } from '../support/agent.ts';
import type { TestApp } from '../support/app.ts';
import { isWithin } from '../support/patience.ts';
import { colourAt, halves, jpeg, jpegOf, png, pngChunk } from '../support/pictures.ts';

const PICTURE = '/account/picture';
const LIMIT = 2 * 1024 * 1024;
/** Of one upload, in a busy moment too. */
const SOON_MS = 8000;

let app: TestApp;
let client: { readonly id: string; readonly secret: string };
let user: User & { email: string };
let browser: Agent;

eachWithPerson((given) => {
  ({ app, client, user, browser } = given);
});

const blob = (file: Buffer): Blob => new Blob([new Uint8Array(file)]);
const kept = () => app.store.collection(avatars).findBy('account', user.id);

async function tokenOf(person: User): Promise<string> {
  const { body } = await redeem(app, client, await new Agent(app).signIn(client.id, person));
  return body.access_token;
}

async function put(token: string, file: Buffer) {
  const answer = await fetch(`${app.url}/account/api/avatar`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'image/png' },
    body: new Uint8Array(file),
  });
  const { data, error } = JSON.parse(await answer.text());
  return { status: answer.status, url: String(data?.picture), reason: error?.reason, answer };
}

/** @returns the reason of the refusal; `kept` where there was none */
async function send(file: Buffer): Promise<string> {
  const started = performance.now();
  const { status, reason } = await put(await tokenOf(user), file);
  assert.ok(isWithin(performance.now() - started, SOON_MS), 'it takes too long');
  assert.ok(status < 500, String(status));
  assert.equal((await fetch(`${app.url}/readyz`)).status, 200);
  return status === 200 ? 'kept' : String(reason);
}

/** What is at the address of the picture that was just sent. */
async function served(file: Buffer): Promise<{ readonly bytes: Buffer; readonly headers: Headers }> {
  const { status, url } = await put(await tokenOf(user), file);
  assert.equal(status, 200);
  const answer = await fetch(url);
  return { bytes: Buffer.from(await answer.arrayBuffer()), headers: answer.headers };
}

async function post(form: FormData, init: RequestInit = {}): Promise<Page> {
  return browser.request(PICTURE, { method: 'POST', body: form, ...init });
}

async function formOf(file: Buffer, name = 'me.png'): Promise<FormData> {
  const { csrf = '' } = hiddenFields((await open(browser, user, PICTURE)).body);
  const form = new FormData();
  form.append('csrf', csrf);
  form.append('picture', blob(file), name);
  return form;
}

test('attack: an SVG with a script, a page, a PDF and other formats as a picture', async () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>';
  for (const file of [
    Buffer.from(svg),
    Buffer.from(`<?xml version="1.0"?>${svg}`),
    Buffer.from('<!doctype html><script>alert(1)</script>'),
    Buffer.from('%PDF-1.4\n%%EOF'),
    Buffer.from('push graphic-context\nviewbox 0 0 9 9\nfill "url(https://127.0.0.1/)"\npop graphic-context'),
    await halves().tiff().toBuffer(),
    await halves(64, 64).avif({ effort: 0 }).toBuffer(),
    Buffer.from('BM'.padEnd(200, '\0')),
  ])
    assert.equal(await send(file), 'avatar.unreadable', file.subarray(0, 20).toString('latin1'));
  assert.equal((await kept()).length, 0);
});

test('attack: an SVG behind the first bytes of a picture reaches no decoder of SVG', async () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>';
  for (const start of ['\xff\xd8\xff', '\x89PNG\r\n\x1a\n', 'GIF89a', 'RIFF\x10\0\0\0WEBP'])
    assert.equal(await send(Buffer.from(start + svg, 'latin1')), 'avatar.unreadable', start);
});

test('attack: a picture that is a page and a script as well (polyglot)', async () => {
  const script = '<html><script>alert("polyglot")</script></html>';
  const plain = await halves().jpeg().toBuffer();
  const comment = Buffer.from(`\xff\xfe\0${String.fromCharCode(script.length + 2)}${script}`, 'latin1');
  const file = Buffer.concat([plain.subarray(0, 2), comment, plain.subarray(2), Buffer.from(script)]);
  const { bytes, headers } = await served(file);
  assert.doesNotMatch(bytes.toString('latin1'), /script|polyglot/);
  assert.equal(headers.get('content-type'), 'image/jpeg');
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none'/);
  const text = pngChunk('tEXt', Buffer.from(`Comment\0${script}`));
  assert.doesNotMatch((await served(png(50, 50, { between: [text] }))).bytes.toString('latin1'), /script/);
});

test('attack: where a picture was taken stays in it (EXIF, XMP); its orientation is applied', async () => {
  const file = await halves(400, 400)
    .jpeg()
    .withExif({
      IFD0: { Copyright: 'canary-owner', Artist: 'canary-artist' },
      IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 3230/100' },
    })
    .withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/"><canary-xmp/></x:xmpmeta>')
    .withIccProfile('p3')
    .withMetadata({ orientation: 6 })
    .toBuffer();
  for (const canary of ['canary-owner', 'canary-xmp', 'ICC_PROFILE'])
    assert.ok(file.includes(canary), canary);
  const { bytes } = await served(file);
  assert.doesNotMatch(bytes.toString('latin1'), /Exif|canary|xmpmeta|ICC_PROFILE|GPS/);
  const { exif, xmp, icc, iptc, orientation } = await sharp(bytes).metadata();
  assert.deepEqual([exif, xmp, icc, iptc, orientation], Array(5).fill(undefined));
  // Turned to the right: what was on the left is on top.
  assert.deepEqual([await colourAt(bytes, 50, 10), await colourAt(bytes, 50, 90)], ['red', 'blue']);
});

test('attack: 50,000 pixels on a side, and other sizes that no memory has', async () => {
  const nothing = { data: deflateSync(Buffer.alloc(1000)) };
  assert.equal(await send(png(50_000, 50_000, nothing)), 'avatar.too_many_pixels');
  assert.equal(await send(png(2_000_000_000, 2, nothing)), 'avatar.unreadable');
  assert.equal(await send(png(50_000, 1)), 'avatar.too_many_pixels', 'few pixels, one long side');
  assert.equal(await send(png(5_000, 5_000, nothing)), 'avatar.too_many_pixels');
  assert.equal(await send(png(0, 0, nothing)), 'avatar.unreadable');
  assert.equal(await send(png(4_000, 4_000)), 'kept');
});

test('attack: decompression bombs in the data, a text and a colour profile', async () => {
  const bomb = deflateSync(Buffer.alloc(200 * 1024 * 1024), { level: 9 });
  assert.ok(bomb.length < LIMIT / 8);
  await send(png(64, 64, { data: bomb }));
  const named = (name: string): Buffer => Buffer.concat([Buffer.from(`${name}\0\0`), bomb]);
  await send(png(64, 64, { between: [pngChunk('zTXt', named('Comment'))] }));
  await send(png(64, 64, { between: [pngChunk('iCCP', named('profile'))] }));
});

test('attack: more chunks and frames than anyone counts', async () => {
  const chunk = pngChunk('tEXt', Buffer.from('a\0b'));
  await send(png(64, 64, { between: Array(100_000).fill(chunk) }));
  const frame = Buffer.from('\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0', 'latin1');
  const head = Buffer.from('GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff', 'latin1');
  await send(Buffer.concat([head, ...Array(100_000).fill(frame), Buffer.from(';')]));
});

test('attack: files that are cut off, damaged or nothing but a beginning', async () => {
  const whole = await jpeg();
  for (const file of [
    whole.subarray(0, whole.length / 2),
    whole.subarray(0, 20),
    png(300, 300).subarray(0, 60),
    (await halves().webp().toBuffer()).subarray(0, 100),
  ])
    assert.equal(await send(file), 'avatar.unreadable');
  assert.equal((await kept()).length, 0);
});

test('attack: 2 MB and one byte, on the page and by the API', async () => {
  assert.equal(await send(await jpegOf(LIMIT)), 'kept');
  assert.equal(await send(await jpegOf(LIMIT + 1)), 'request.too_large');
  const page = await post(await formOf(await jpegOf(LIMIT + 1)));
  assert.equal(page.status, 413);
  assert.match(page.body, /at most 2 MB/);
  const much = await post(await formOf(Buffer.alloc(6 * LIMIT)));
  assert.equal(much.status, 413);
  assert.match(much.body, /at most 2 MB/, 'still our page');
});

test('attack: stored XSS by the name of a file', async () => {
  const name = '"><img src=x onerror=alert(1)>.png';
  const done = await browser.follow(await post(await formOf(await jpeg(), name)));
  assert.match(done.body, /Your picture is saved/);
  const audit = await app.admin('GET', `/audit?target_id=${user.id}`);
  const [document] = await kept();
  for (const text of [done.body, JSON.stringify(audit.body), JSON.stringify(document), app.logged.join('')])
    assert.doesNotMatch(text, /onerror/);
});

test('attack: a picture by another site, without a token or with that of another person', async () => {
  const file = await jpeg();
  const good = await formOf(file);
  const foreign = { headers: { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' } };
  assert.equal((await post(good, foreign)).status, 403);
  const without = await formOf(file);
  without.delete('csrf');
  assert.equal((await post(without)).status, 403);
  const stranger = new Agent(app);
  const page = await open(stranger, await newPerson(app), PICTURE);
  const theirs = await formOf(file);
  theirs.set('csrf', hiddenFields(page.body).csrf ?? '');
  assert.equal((await post(theirs)).status, 403);
  const removal = await browser.post(`${PICTURE}/remove`, {});
  assert.equal(removal.status, 403);
  assert.equal((await kept()).length, 0);
  assert.equal((await browser.follow(await post(good))).status, 200, 'the genuine form still works');
});

test('attack: forms with two files, a file in another field, no boundary, or 100,000 parts', async () => {
  const file = await jpeg();
  const twice = await formOf(file);
  twice.append('picture', blob(file));
  assert.equal((await post(twice)).status, 400);
  const elsewhere = await formOf(file);
  elsewhere.append('csrf', blob(file));
  assert.equal((await post(elsewhere)).status, 400);
  const raw = (type: string, body: string) =>
    browser.request(PICTURE, { method: 'POST', headers: { 'content-type': type }, body });
  assert.equal((await raw('multipart/form-data', 'x')).status, 400);
  assert.equal((await raw('multipart/form-data; boundary=b', 'x')).status, 400);
  assert.equal((await raw('application/x-www-form-urlencoded', 'picture=x')).status, 415);
  const part = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n';
  const started = performance.now();
  const most = Math.floor(LIMIT / part.length);
  assert.ok((await raw('multipart/form-data; boundary=b', `${part.repeat(most)}--b--\r\n`)).status < 500);
  assert.ok(isWithin(performance.now() - started, SOON_MS), 'parsing is slow');
  assert.equal((await kept()).length, 0);
});

test('attack: reading the pictures of others by guessing addresses', async () => {
  const { url } = await put(await tokenOf(user), await jpeg());
  const [, id = ''] = /avatars\/([^/]+)\//.exec(url) ?? [];
  assert.match(id, /^[A-Za-z0-9_-]{22}$/, '128 random bits');
  for (const path of [
    `/avatars/${user.id}/256.jpg`,
    `/avatars/${user.username}/256.jpg`,
    `/avatars/${id.slice(0, -1)}/256.jpg`,
    `/avatars/${id}/512.jpg`,
    `/avatars/${id}/__proto__`,
    `/avatars/${id}`,
    `/avatars/${id}/`,
    `/avatars/..%2f${id}/256.jpg`,
    '/avatars/',
    '/avatars',
  ])
    assert.equal((await fetch(`${app.url}${path}`)).status, 404, path);
  assert.equal((await fetch(url, { method: 'POST' })).status, 404);
  // The same picture of two people has two addresses: neither tells of the other.
  const other = await put(await tokenOf(await newPerson(app)), await jpeg());
  assert.notEqual(other.url, url);
});

test('attack: another’s picture as one’s own, by members of other requests', async () => {
  const { url } = await put(await tokenOf(user), await jpeg());
  const [, id = ''] = /avatars\/([^/]+)\//.exec(url) ?? [];
  const thief = await newPerson(app);
  const answer = await fetch(`${app.url}/account/api/profile`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${await tokenOf(thief)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ avatar_id: id, avatarId: id, picture: url }),
  });
  assert.equal(answer.status, 400);
  assert.equal((await app.admin('PATCH', `/users/${thief.id}`, { avatar_id: id })).status, 400);
  assert.equal((await app.admin('GET', `/users/${thief.id}`)).body.data.avatar_id, null);
});

test('attack: pictures one after the other, and many at once', async () => {
  await change(app, { limit_avatar_account: 3 });
  const token = await tokenOf(user);
  const file = await halves(40, 40).jpeg().toBuffer();
  const answers = await Promise.all(Array.from({ length: 6 }, () => put(token, file)));
  const counts = Object.groupBy(answers, ({ status }) => status);
  assert.deepEqual([counts[200]?.length, counts[429]?.length], [3, 3]);
  await change(app, { limit_avatar_account: 1000 });
  const many = await Promise.all(Array.from({ length: 14 }, () => put(token, file)));
  const busy = many.filter(({ status }) => status === 503);
  assert.ok(busy.length >= 4 && busy.length < 14, `${busy.length} were refused`);
  assert.ok(
    busy.every(({ reason, answer }) => reason === 'avatar.busy' && answer.headers.has('retry-after')),
  );
  assert.equal((await kept()).length, 1, 'none is left that no account names');
});
