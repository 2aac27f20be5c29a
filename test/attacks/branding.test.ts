// Attacks by what pages look like: pictures that are none, looks of applications that nobody vouches for, and phishing by a look.
import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import { samples } from '../../src/admin/resources/branding/samples/samples.ts';
import { mailNames } from '../../src/model/mails.ts';
import { membersOf } from '../admin/answers.ts';
import { Agent, codeRequest, hiddenFields } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';
import { png } from '../support/pictures.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());

const upload = (bytes: Buffer | string, use?: 'logo' | 'background') =>
  app.admin('POST', '/branding/pictures', {
    data: Buffer.from(bytes).toString('base64'),
    ...(use && { use }),
  });

for (const [use, type] of [
  ['logo', 'png'],
  ['background', 'webp'],
] as const)
  test(`attack: SVG and polyglot as a ${use}; one is refused, of the other only the picture is kept`, () =>
    sendWeapons(use, type));

async function sendWeapons(use: 'logo' | 'background', type: 'png' | 'webp'): Promise<void> {
  const script = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>';
  for (const bytes of [
    script,
    `<?xml version="1.0"?>${script}`,
    `GIF89a${script}`,
    '%PDF-1.7',
    `\u00ff\u00d8\u00ff${script}`,
  ]) {
    const { status, body } = await upload(bytes, use);
    deepEqual([status, body.error?.reason], [400, 'avatar.unreadable']);
  }
  const polyglot = Buffer.concat([png(64, 32), Buffer.from(`<script>alert(1)</script>${script}`)]);
  const both = await upload(polyglot, use);
  equal(both.status, 201);
  deepEqual([both.body.data.width, both.body.data.height], [64, 32]);
  const id = String(both.body.data.id);
  const served = await fetch(`${app.url}/pictures/${id}.${type}`);
  const bytes = Buffer.from(await served.arrayBuffer());
  doesNotMatch(bytes.toString('latin1'), /script|svg/);
  deepEqual(
    ['content-type', 'cache-control', 'x-content-type-options'].map((name) => served.headers.get(name)),
    [`image/${type}`, 'public, max-age=31536000, immutable', 'nosniff'],
  );
  match(served.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  for (const path of [
    'x.png',
    '../settings.png',
    `${id}.svg`,
    `${id}.${type === 'png' ? 'webp' : 'png'}`,
    `${'A'.repeat(22)}-1x1.${type}`,
  ])
    equal((await fetch(`${app.url}/pictures/${path}`)).status, 404, path);
  // In the place of the other kind: a mail would attach what programs do not show, or a page load a logo over all of it.
  const member = use === 'logo' ? 'background_picture' : 'icon';
  const misplaced = await app.admin('PATCH', '/branding', { [member]: id });
  deepEqual([misplaced.status, Object.keys(misplaced.body.error?.fields ?? {})], [400, [member]]);
}

test('attack: a logo or background that is a bomb, or huge', async () => {
  for (const use of ['logo', 'background'] as const) {
    const bomb = await upload(png(50_000, 50_000, { data: Buffer.alloc(10) }), use);
    deepEqual([bomb.status, bomb.body.error?.reason], [400, 'avatar.too_many_pixels'], use);
    const huge = await upload(Buffer.alloc(1_100_000, 1), use);
    ok(huge.status === 400 || huge.status === 413, `${huge.status}`);
  }
});

test('attack: an application that registered itself, an agent or the Admin UI gets a look', async () => {
  const token = await app.admin('POST', '/initial-access-tokens', { label: 'x' });
  const registered = await fetch(`${app.url}/oauth2/register`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${String(token.body.data.token)}`,
    },
    body: JSON.stringify({
      redirect_uris: ['https://evil.example/cb'],
      logo_uri: 'https://evil.example/l.png',
      branding: { accent: '#ff0000' },
    }),
  });
  const { client_id: id } = Object(await registered.json());
  ok(id, 'registered');
  for (const client of [String(id), 'latchkey-admin']) {
    const { status, body } = await app.admin('PATCH', `/clients/${client}/branding`, { accent: '#ff0000' });
    ok(
      status === 409 ? body.error?.reason === 'branding.of_stranger' : status === 404,
      `${client} ${status}`,
    );
  }
});

test('attack: phishing by a look; name and address of the server stay on the page', async () => {
  const [own, other] = [await app.register({ client_name: 'Bank' }), await app.register()];
  await app.admin('PATCH', '/settings', { product_name: 'Acme ID' });
  const { body } = await upload(png(300, 60));
  const look = {
    logo: body.data.id,
    is_name_in_logo: true,
    accent: '#0b1f3a',
    texts: { en: { welcome: '<b>Bank</b> sign-in' } },
  };
  equal((await app.admin('PUT', `/clients/${own.id}/branding`, look)).status, 200);
  const page = (await new Agent(app).authorize(codeRequest(own.id))).body;
  match(page, /--accent:#0b1f3a/);
  match(
    page,
    new RegExp(`<img src="/pictures/${String(body.data.id)}\\.png" alt="" width="200" height="40">`),
  );
  match(page, /<span>Acme ID<\/span>/);
  match(page, new RegExp(`<bdi>Acme ID</bdi> · <bdi dir="ltr">${new URL(app.url).host}</bdi>`));
  match(page, /&lt;b&gt;Bank&lt;\/b&gt; sign-in/);
  const others = (await new Agent(app).authorize(codeRequest(other.id))).body;
  doesNotMatch(others, /0b1f3a|pictures\/|brand-of/);
});

/** A browser whose person went the whole way to /admin. */
async function enter(username: string): Promise<Agent> {
  const agent = new Agent(app);
  const signIn = await agent.follow(await agent.get(`${app.url}/admin`));
  await agent.submit(signIn, { username, password: PASSWORD });
  return agent;
}

const sampleAt = (query: Record<string, string>): string =>
  `${app.url}/admin/branding/sample?${new URLSearchParams(query)}`;
const inFrame = { headers: { 'sec-fetch-dest': 'iframe' } };

test('attack: the gallery as a phishing page; nothing acts, and administrators alone see it', async () => {
  await app.createUser('painter', { role: 'admin' });
  await app.createUser('other-painter', { role: 'admin' });
  await app.createUser('passer-by');
  const agent = await enter('painter');
  const names = [...Object.keys(samples), ...mailNames.map((name) => `mail-${name}`)];
  for (const sample of names) {
    const { status, headers, body } = await agent.get(
      sampleAt({ sample, language: 'ar', scheme: 'dark' }),
      inFrame,
    );
    equal(status, 200, sample);
    doesNotMatch(body, /<script|autofocus|http-equiv="refresh"| on\w+=|method="post"|name="csrf"/, sample);
    match(body, /<body inert/, sample);
    match(body, /dir="rtl"/, sample);
    const policy = headers.get('content-security-policy') ?? '';
    match(policy, /^sandbox allow-same-origin; default-src 'none';/);
    match(policy, /form-action 'none'; frame-ancestors 'self'$/);
    ok(!policy.includes('script-src') && !policy.includes('allow-scripts'));
    equal(headers.get('x-frame-options'), 'SAMEORIGIN');
    equal(headers.get('cache-control'), 'no-store');
  }
  // Opened by itself, asked for by a name that is none, by nobody, by a person of no role.
  const alone = { headers: { 'sec-fetch-dest': 'document' } };
  equal((await agent.get(sampleAt({ sample: 'login' }), alone)).status, 404);
  for (const sample of ['__proto__', 'mail-__proto__', 'mail-', '../login', 'admin/users'])
    equal((await agent.get(sampleAt({ sample }), inFrame)).status, 404, sample);
  equal((await fetch(sampleAt({ sample: 'login' }), inFrame)).status, 401);
  equal((await (await enter('passer-by')).get(sampleAt({ sample: 'login' }), inFrame)).status, 403);
});

test('attack: a link puts words into the gallery; a draft is its own administrator’s alone', async () => {
  const agent = await enter('painter');
  const page = await agent.get(`${app.url}/admin/branding`);
  const { csrf = '', draft = '' } = hiddenFields(page.body);
  const hostile = '</style><script>alert(1)</script>Call 0900-EVIL';
  const keep = (browser: Agent, fields: Record<string, string>, part = '') =>
    browser.post(`${app.url}/admin/branding${part}/draft`, { csrf, draft, ...fields });
  const kept = await keep(agent, { accent: '#ffd400' });
  equal(kept.status, 200);
  match(kept.body, /#ffd400<\/bdi> would have 1\.\d : 1\. Pages use <bdi>#[0-9a-f]{6}<\/bdi>\./);
  const query = { sample: 'login', 'texts.en.welcome': 'Call 0900-EVIL', accent: '#ff0000' };
  const own = (await agent.get(sampleAt({ ...query, draft }), inFrame)).body;
  match(own, /--accent:#ffd400/);
  equal((await keep(agent, { 'texts.en.welcome': hostile }, '/texts')).status, 200);
  const said = (await agent.get(sampleAt({ ...query, draft }), inFrame)).body;
  match(said, /&#60;\/style&#62;|&lt;\/style&gt;/);
  for (const body of [own, said]) doesNotMatch(body, /<script/);
  for (const [who, asked] of [
    ['painter', query],
    ['other-painter', { ...query, draft }],
  ] as const) {
    const { body, status } = await (await enter(who)).get(sampleAt(asked), inFrame);
    equal(status, 200);
    doesNotMatch(body, /0900-EVIL|ffd400|ff0000/, who);
  }
  // CSS, names of drafts that are none, and forms from elsewhere.
  equal((await keep(agent, { accent: '#fff;}*{background:url(//evil.example)}' })).status, 400);
  equal((await keep(agent, { draft: '../x' })).status, 400);
  equal((await keep(agent, { csrf: 'forged' })).status, 403);
  deepEqual((await app.admin('GET', '/branding')).body.data.texts, {});

  // Links that lead to scripts or to forms of our own: what the API refuses the form does, beside the field, with what was typed.
  for (const url of [
    'javascript:alert(1)',
    'data:text/html,x',
    '//evil.example',
    'http://a.example/',
    '/admin',
  ]) {
    const fields = { csrf, version: '0', 'links.0.url': url, 'links.0.labels.en': '<i>Terms</i>' };
    const refused = await agent.post(`${app.url}/admin/branding/texts`, fields);
    equal(refused.status, 400, url);
    match(
      refused.body,
      /id="links\.0\.url-error" class="problem">Must be an address with https: or mailto:\./,
      url,
    );
    match(refused.body, /<details open><summary>Link 1 <small><bdi>&lt;i&gt;Terms&lt;\/i&gt;/, url);
    ok(refused.body.includes(`value="${url}"`), url);
    equal((await keep(agent, { 'links.0.url': url }, '/texts')).status, 400, url);
  }
  const words = { 'links.1.url': 'https://a.example/', 'links.1.labels.ja': 'x'.repeat(41) };
  const long = await agent.post(`${app.url}/admin/branding/texts`, { csrf, version: '0', ...words });
  match(long.body, /id="links\.1\.labels\.ja-error" class="problem">Must be at most 40 characters/);
  deepEqual((await app.admin('GET', '/branding')).body.data.links, []);
});

test('attack: an import of a look as injection; nothing is saved unseen, and it can be undone', async () => {
  const agent = await enter('painter');
  const at = `${app.url}/admin/branding/import`;
  const { csrf = '' } = hiddenFields((await agent.get(at)).body);
  const picture = png(300, 60);
  const uploaded = await upload(picture);
  const look = {
    accent: '#0b1f3a',
    logo: uploaded.body.data.id,
    texts: { ja: { welcome: 'ようこそ' } },
    links: [{ url: 'https://help.example/', labels: { en: 'Help' } }],
  };
  equal((await app.admin('PUT', '/branding', look)).status, 200);
  const exported = await app.admin('GET', '/branding/export');
  const { look: itsLook, pictures: itsPictures, ...marks } = exported.body.data;
  const file = { ...marks, look: membersOf(itsLook), pictures: membersOf(itsPictures) };
  deepEqual(
    [marks.kind, file.look.accent, Object.keys(file.pictures)],
    ['latchkey-look', '#0b1f3a', ['logo']],
  );
  const before = (await app.admin('GET', '/branding')).body;
  const review = (json: string) => agent.post(at, { csrf, json });

  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>').toString('base64');
  const script = Buffer.from(`GIF89a<script>alert(1)</script>`).toString('base64');
  const css = '#fff;}*{background:url(//evil.example)}';
  for (const [hostile, field] of [
    [{ ...file, look: { ...file.look, accent: css } }, 'look.accent'],
    [{ ...file, look: { ...file.look, font: 'Arial;}' } }, 'look.font'],
    [{ ...file, look: { ...file.look, custom_css: css } }, 'look.custom_css'],
    [{ ...file, look: { ...file.look, mails: {} } }, 'look.mails'],
    [{ ...file, look: { ...file.look, links: [{ url: 'javascript:x', labels: {} }] } }, 'look.links'],
    [{ ...file, look: { ...file.look, texts: { en: { welcome: 'a\u202eb' } } } }, 'look.texts.en.welcome'],
    [{ ...file, pictures: { logo: svg } }, 'pictures.logo'],
    [{ ...file, pictures: { icon: script } }, 'pictures.icon'],
    [{ ...file, pictures: { logo: '../../etc/passwd' } }, 'pictures.logo'],
    [{ ...file, pictures: { favicon: svg } }, 'pictures.favicon'],
    [{ ...file, look: { icon: `${'A'.repeat(22)}-10x10` }, pictures: {} }, 'pictures.icon'],
    [{ ...file, more: 1 }, 'more'],
    [{ ...file, kind: 'settings' }, 'kind'],
    [{ values: { product_name: 'x' } }, 'values'],
  ] as const) {
    const { status, body } = await review(JSON.stringify(hostile));
    equal(status, 400, field);
    match(body, new RegExp(`<li><code>${field.replaceAll('.', '\\.')}</code>`), field);
    doesNotMatch(body, /name="ready"/, field);
  }
  for (const json of [
    '',
    '[]',
    'null',
    '"x"',
    '{',
    '{"__proto__":{"kind":"latchkey-look"}}',
    '['.repeat(5000),
  ])
    equal((await review(json)).status, 400, json.slice(0, 20));
  equal((await review('x'.repeat(600_000))).status, 413);
  const forged = { csrf, version: '0', ready: JSON.stringify({ accent: css }) };
  equal((await agent.post(at, forged)).status, 400);
  equal((await agent.post(at, { ...forged, csrf: 'x' })).status, 403);
  deepEqual((await app.admin('GET', '/branding')).body, before);

  // Its own export changes nothing; of a polyglot only the picture comes in.
  match((await review(JSON.stringify(file))).body, /The look already matches the file\./);
  const both = Buffer.concat([png(64, 32), Buffer.from('<script>alert(1)</script>')]).toString('base64');
  const other = { kind: 'latchkey-look', look: { accent: '#AA0033' }, pictures: { logo: both } };
  const seen = await review(JSON.stringify(other));
  equal(seen.status, 200);
  match(seen.body, /<code>accent<\/code>[\s\S]*#0b1f3a[\s\S]*#aa0033/);
  match(seen.body, /<code>texts\.ja\.welcome<\/code>[\s\S]*ようこそ[\s\S]*not set/);
  deepEqual((await app.admin('GET', '/branding')).body, before);
  const { version = '' } = hiddenFields(seen.body);
  const ready = (/name="ready" value="([^"]*)"/.exec(seen.body)?.[1] ?? '').replaceAll('&quot;', '"');
  equal((await agent.post(at, { csrf, version, ready })).status, 303);
  const after = (await app.admin('GET', '/branding')).body.data;
  deepEqual([after.accent, after.texts, after.links], ['#aa0033', {}, []]);
  const kept = await fetch(`${app.url}/pictures/${String(after.logo)}.png`);
  doesNotMatch(Buffer.from(await kept.arrayBuffer()).toString('latin1'), /script/);
  // What somebody else saved in between is not overwritten.
  equal((await agent.post(at, { csrf, version, ready: '{}' })).status, 412);
  equal((await app.admin('POST', '/branding/restore', { version: Number(version) })).status, 200);
  deepEqual((await app.admin('GET', '/branding')).body.data.texts, look.texts);
});

test('attack: an import of texts of mails as injection; it shows all, and can be undone', async () => {
  const agent = await enter('painter');
  const at = `${app.url}/admin/branding/mails/import`;
  const { csrf = '' } = hiddenFields((await agent.get(at)).body);
  const own = { subject: 'Join {product}', closing: 'Call 2222.' };
  equal((await app.admin('PUT', '/branding/mails/invitation/en', own)).status, 200);
  const { body: exported } = await app.admin('GET', '/branding/mails/export');
  deepEqual(exported.data, { kind: 'latchkey-mail-texts', texts: { en: { invitation: own } } });
  const review = (file: unknown) => agent.post(at, { csrf, json: JSON.stringify(file) });
  const withTexts = (texts: unknown) => ({ kind: 'latchkey-mail-texts', texts });
  for (const [hostile, field] of [
    [withTexts({ en: { invitation: { lead: 'Go to evil.example' } } }), 'texts.en.invitation.lead'],
    [withTexts({ de: { test: { lead: '<b>x</b>' } } }), 'texts.de.test.lead'],
    [withTexts({ en: { test: { subject: 'Hello\r\nBcc: all@evil.example' } } }), 'texts.en.test.subject'],
    [withTexts({ en: { test: { button: 'Press' } } }), 'texts.en.test.button'],
    [withTexts({ en: { test: { html: 'x' } } }), 'texts.en.test.html'],
    [withTexts({ en: { test: 7 } }), 'texts.en.test'],
    [withTexts({ en: { nothing: {} } }), 'texts.en.nothing'],
    [withTexts({ xx: {} }), 'texts.xx'],
    [withTexts([]), 'texts'],
    [{ ...withTexts({}), more: 1 }, 'more'],
    [{ kind: 'latchkey-look', look: {}, pictures: {} }, 'kind'],
  ] as const) {
    const { status, body } = await review(hostile);
    equal(status, 400, field);
    match(body, new RegExp(`<li><code>${field.replaceAll('.', '\\.')}</code>`), field);
    doesNotMatch(body, /name="ready"/, field);
  }
  const polluting = '{"kind":"latchkey-mail-texts","texts":{"en":{"__proto__":{}}}}';
  for (const json of ['', '[]', 'null', '{', polluting, '['.repeat(5000)])
    equal((await agent.post(at, { csrf, json })).status, 400, json.slice(0, 20));
  const evil = JSON.stringify({ texts: { en: { test: { lead: 'www.evil.example' } } } });
  equal((await agent.post(at, { csrf, version: '1', ready: evil })).status, 400);
  equal((await agent.post(at, { csrf: 'x', version: '1', ready: '{"texts":{}}' })).status, 403);
  deepEqual((await app.admin('GET', '/branding/mails/export')).body, exported);
  match((await review(exported.data)).body, /The texts already match the file\./);

  // What would change, with what is as shipped, and what the lint says: the preview beside a subject needs a sentence.
  const other = withTexts({ en: { password_changed: { lead: 'Hi.' } }, ja: { test: { closing: 'またね' } } });
  const seen = await review(other);
  equal(seen.status, 200);
  match(seen.body, /<code>en\.invitation\.subject<\/code>[\s\S]*Join \{product\}[\s\S]*As shipped: /);
  match(seen.body, /<code>ja\.test\.closing<\/code>[\s\S]*not set[\s\S]*またね/);
  match(
    seen.body,
    /<code>en\.password_changed<\/code><small class="problem">The first sentence is too short/,
  );
  deepEqual((await app.admin('GET', '/branding/mails/export')).body, exported);
  const arabic = { method: 'POST', body: new URLSearchParams({ csrf, json: JSON.stringify(other) }) };
  match(
    (await agent.request(at, { ...arabic, headers: { 'accept-language': 'ar' } })).body,
    /dir="rtl"[\s\S]*الافتراضي: /,
  );
  const { version = '' } = hiddenFields(seen.body);
  const ready = (/name="ready" value="([^"]*)"/.exec(seen.body)?.[1] ?? '').replaceAll('&quot;', '"');
  equal((await agent.post(at, { csrf, version, ready })).status, 303);
  deepEqual((await app.admin('GET', '/branding/mails/export')).body.data.texts, other.texts);
  equal((await agent.post(at, { csrf, version, ready: '{"texts":{}}' })).status, 412);
  equal((await app.admin('POST', '/branding/mails/restore', { version: Number(version) })).status, 204);
  deepEqual((await app.admin('GET', '/branding/mails/export')).body, exported);
});
