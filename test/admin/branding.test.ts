// How pages look, over HTTP: members and their rules, versions, applications of their own.
import { deepEqual, doesNotMatch, equal, fail, match, notDeepEqual, ok } from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { lookSchema } from '../../src/admin/resources/branding/schema.ts';
import { languages } from '../../src/views/index.ts';
import { Agent, codeRequest } from '../support/agent.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { openMailbox } from '../support/mailbox.ts';
import { png } from '../support/pictures.ts';
import { dataOf, errorOf, itemsOf, wrongFields } from './answers.ts';
import { withEachServer, withServer } from './support.ts';

const etagOf = (answer: { headers: Headers }): { headers: Record<string, string> } => ({
  headers: { 'If-Match': answer.headers.get('etag') ?? '' },
});

withEachServer('look: unset at first, changed, replaced, brought back', async ({ api }) => {
  const first = await api('GET', '/branding');
  deepEqual([first.headers.get('etag'), dataOf(first).accent, dataOf(first).texts], ['"0"', null, {}]);
  const changed = await api('PATCH', '/branding', { accent: '#FFD400', radius: 4 }, etagOf(first));
  deepEqual([changed.status, dataOf(changed).accent, dataOf(changed).radius], [200, '#ffd400', 4]);
  const more = await api('PATCH', '/branding', {
    texts: { de: { welcome: 'Willkommen' }, en: { help: null } },
    links: [{ url: 'https://help.example.com/', labels: { en: 'Help' } }],
  });
  deepEqual(dataOf(more).texts, { de: { welcome: 'Willkommen' } });
  deepEqual([dataOf(more).accent, dataOf(more).radius], ['#ffd400', 4]);
  const replaced = await api('PUT', '/branding', { font: 'serif' });
  deepEqual([dataOf(replaced).accent, dataOf(replaced).font, dataOf(replaced).links], [null, 'serif', []]);

  const stale = await api('PUT', '/branding', {}, etagOf(changed));
  deepEqual([stale.status, errorOf(stale).reason], [412, 'branding.changed']);
  const versions = itemsOf(await api('GET', '/branding/versions'));
  deepEqual(
    versions.map(({ version, restored }) => [version, restored]),
    [
      [3, null],
      [2, null],
      [1, null],
    ],
  );
  const back = await api('POST', '/branding/restore', { version: 1 });
  deepEqual([back.status, dataOf(back).accent, dataOf(back).font], [200, '#ffd400', null]);
  equal(itemsOf(await api('GET', '/branding/versions'))[0]?.restored, 1);
  equal(
    errorOf(await api('POST', '/branding/restore', { version: 99 })).reason,
    'branding.version_not_found',
  );
  // What is shown can be sent back, and is no new version.
  const shown = await api('GET', '/branding');
  const same = await api('PUT', '/branding', dataOf(shown));
  deepEqual([same.status, dataOf(same)], [200, dataOf(shown)]);
  equal(same.headers.get('etag'), shown.headers.get('etag'));
});

withEachServer('look: of parallel changes one makes each version', async ({ api }) => {
  const answers = await Promise.all(
    ['#111111', '#222222', '#333333'].map((accent) => api('PUT', '/branding', { accent })),
  );
  const done = answers.filter(({ status }) => status === 200).length;
  ok(done >= 1);
  ok(answers.every(({ status }) => status === 200 || status === 412));
  equal(itemsOf(await api('GET', '/branding/versions')).length, done);
});

withServer('look: the last 30 versions are kept', async ({ api }) => {
  for (let radius = 0; radius < 32; radius += 1)
    equal((await api('PUT', '/branding', { radius: radius % 25 })).status, 200);
  const versions = itemsOf(await api('GET', '/branding/versions'));
  deepEqual([versions.length, versions[0]?.version, versions.at(-1)?.version], [30, 32, 3]);
});

withServer('look of an application: its own, gone with it', async ({ api }) => {
  const created = await api('POST', '/clients', {
    client_name: 'Acme',
    redirect_uris: ['https://a.example/cb'],
  });
  const path = `/clients/${String(dataOf(created).client_id)}/branding`;
  equal((await api('PATCH', path, { accent: '#aa0033' })).status, 200);
  equal(dataOf(await api('GET', path)).accent, '#aa0033');
  equal(dataOf(await api('GET', '/branding')).accent, null);
  equal((await api('PUT', path, {})).status, 200);
  equal((await api('POST', `${path}/restore`, { version: 1 })).status, 200);
  equal(itemsOf(await api('GET', `${path}/versions`)).length, 3);
  equal((await api('DELETE', path.replace('/branding', ''))).status, 204);
  equal(errorOf(await api('GET', path)).reason, 'client.not_found');
});

withServer(
  'attack: branding as CSS injection, every member; as HTML, scripts, huge texts',
  async ({ api }) => {
    const css = '#fff;}*{background:url(//evil.example)}';
    const wrong: Record<string, unknown> = {
      accent: css,
      accent_dark: 'red',
      background: '#12345g',
      background_dark: "url('x')",
      radius: '4px;}',
      font: 'Arial;}',
      layout: '"><script>',
      logo: '../../etc/passwd',
      logo_dark: 'https://evil.example/x.png',
      icon: 'data:image/svg+xml,<svg onload=alert(1)>',
      is_gradient: 'on;}',
      custom_css: css,
    };
    for (const [name, value] of Object.entries(wrong))
      deepEqual(wrongFields(await api('PATCH', '/branding', { [name]: value })), [name], name);
    for (const url of [
      'javascript:alert(1)',
      'JaVaScRiPt:x',
      'data:text/html,x',
      '//evil.example',
      'http://a.example/',
      'https:///x',
      'https://a.example/\nx',
      ' https://a.example',
    ])
      deepEqual(
        wrongFields(await api('PATCH', '/branding', { links: [{ url, labels: { en: 'x' } }] })),
        ['links'],
        url,
      );
    for (const text of ['a\nb', 'a\u202eb', 'x'.repeat(121), ''])
      deepEqual(wrongFields(await api('PATCH', '/branding', { texts: { en: { welcome: text } } })), [
        'texts.en.welcome',
      ]);
    deepEqual(wrongFields(await api('PATCH', '/branding', { texts: { xx: {} } })), ['texts.xx']);
    deepEqual(wrongFields(await api('PATCH', '/branding', { logo: 'abcdefghijklmnopqrstuv-10x10' })), [
      'logo',
    ]);
    equal((await api('GET', '/branding')).headers.get('etag'), '"0"');
  },
);

test('texts: in exactly the languages of the pages', () => {
  deepEqual(Object.keys(lookSchema.properties.texts.properties), [...languages]);
});

test('look in mails: the logo comes along inside, the colour is the look’s, at the next mail', async () => {
  const app = await startApp({ store: 'sqlite' });
  const mailbox = await openMailbox(app);
  const linkColors = (html: string): string[] => html.match(/\.link\{color:#[0-9a-f]{6}/g) ?? fail(html);
  try {
    equal((await app.admin('POST', '/settings/test-email', { to: 'ann@example.com' })).status, 200);
    const first = mailbox.received.at(-1) ?? fail('no mail');
    const picture = await app.admin('POST', '/branding/pictures', { data: png(200, 40).toString('base64') });
    equal(picture.status, 201);
    const look = { logo: picture.body.data.id, accent: '#0b1f3a' };
    equal((await app.admin('PATCH', '/branding', look)).status, 200);
    equal((await app.admin('POST', '/settings/test-email', { to: 'ann@example.com' })).status, 200);
    const { mail } = mailbox.received.at(-1) ?? fail('no mail');
    match(String(mail.html), /<img src="(?:cid:logo|data:image\/png;base64,[^"]+)" width="200" height="40"/);
    notDeepEqual(linkColors(String(mail.html)), linkColors(String(first.mail.html)));
    deepEqual(
      mail.attachments.map(({ cid, contentType }) => [cid, contentType]),
      [['logo', 'image/png']],
    );
    equal((await app.admin('PATCH', '/branding', { logo: null })).status, 200);
    equal((await app.admin('POST', '/settings/test-email', { to: 'ann@example.com' })).status, 200);
    deepEqual(mailbox.received.at(-1)?.mail.attachments, []);
  } finally {
    await mailbox.close();
    await app.stop();
  }
});

withServer(
  'attack: texts of mails as injection: headers, HTML, links, what a mail must say',
  async ({ api }) => {
    const path = '/branding/mails/invitation/en';
    for (const [member, texts] of Object.entries({
      subject: ['Hello\r\nBcc: all@evil.example', 'Hi {inviter}', 'x'.repeat(61), 'See evil.example', ''],
      lead: [
        '<b>Hi</b>',
        'Go to https://evil.example',
        'Write to a@b',
        '{url}',
        '{__proto__}',
        'a}',
        'a\u202eb',
      ],
      lead_by: ['Somebody invites you', '{inviter} {inviter2}', 'x{inviter}'.padEnd(501, 'x')],
      closing: ['www.evil.example', '10.0.0.1', 'javascript:\u0000x', '{product'],
      not_you: [7, {}, ['x']],
    }))
      for (const text of texts)
        deepEqual(
          wrongFields(await api('PUT', path, { [member]: text })),
          [member],
          `${member} ${String(text)}`,
        );
    deepEqual(wrongFields(await api('PUT', '/branding/mails/test/en', { button: 'Press' })), ['button']);
    for (const [mail, language] of [
      ['nothing', 'en'],
      ['__proto__', 'en'],
      ['test', 'xx'],
    ])
      ok(
        (await api('PUT', `/branding/mails/${mail}/${language}`, { subject: 'Hello there' })).status >= 400,
        mail,
      );
    equal((await api('GET', '/branding/mails')).headers.get('etag'), '"0"');
  },
);

test('texts of mails: in their language, at the next mail; back by their version', async () => {
  const app = await startApp({ store: 'sqlite' });
  const mailbox = await openMailbox(app);
  const sendIn = async (language: string) => {
    const body = { to: 'ann@example.com', mail: 'invitation', language };
    equal((await app.admin('POST', '/settings/test-email', body)).status, 200);
    return mailbox.received.at(-1)?.mail ?? fail('no mail');
  };
  try {
    const own = {
      subject: 'Join {product}',
      lead_by: '{inviter} asks you to join.',
      closing: 'Call 2222 & ask.',
    };
    const saved = await app.admin('PUT', '/branding/mails/invitation/en', own);
    deepEqual([saved.status, saved.body.data.subject, saved.body.data.lead], [200, own.subject, null]);
    const mail = await sendIn('en');
    equal(mail.subject, 'Join Latchkey');
    match(String(mail.text), /Grace Hopper asks you to join\.[\s\S]*Call 2222 & ask\.[\s\S]*-- /);
    match(
      String(mail.html),
      /<b><bdi>Grace Hopper<\/bdi><\/b> asks you to join\.[\s\S]*Call 2222 &amp; ask\./,
    );
    notDeepEqual((await sendIn('de')).subject, mail.subject);
    const list = JSON.stringify((await app.admin('GET', '/branding/mails')).body);
    match(list, /\{"mail":"invitation","languages":\["en"\]\}/);
    equal(list.match(/"en"/g)?.length, 1);
    equal((await app.admin('PUT', '/branding/mails/invitation/en', {})).status, 200);
    equal((await sendIn('en')).subject, 'Your invitation to Latchkey');
    equal((await app.admin('POST', '/branding/mails/restore', { version: 1 })).status, 204);
    equal((await sendIn('en')).subject, 'Join Latchkey');
    equal((await app.admin('GET', '/branding/mails/versions')).body.data.items?.length, 3);
  } finally {
    await mailbox.close();
    await app.stop();
  }
});

test('two processes on one file: each shows at its next page what the other saved', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-looks-'));
  const stores = [1, 2].map(() => createSqliteStore({ file: join(folder, 'latchkey.db'), clock: Date.now }));
  const [first, second] = stores;
  ok(first && second);
  const one = await startApp({ shared: first });
  const other = await startApp({ shared: second, env: { BASE_URL: one.url } });
  const mailbox = await openMailbox(other);
  /** Any page will do: one that says what is wrong with the request. */
  const pageAt = async ({ url }: Pick<TestApp, 'url'>) =>
    (await fetch(`${url}/oauth2/authorize`, { headers: { accept: 'text/html' } })).text();
  try {
    const client = await one.register();
    const pageOf = async (app: TestApp, id: string) => (await new Agent(app).authorize(codeRequest(id))).body;
    // Both have rendered what they show until now.
    for (const app of [one, other]) doesNotMatch(await pageAt(app), /0b1f3a/);
    equal((await one.admin('PATCH', '/branding', { accent: '#0b1f3a' })).status, 200);
    match(await pageAt(other), /--accent:#0b1f3a/);
    const look = { texts: { en: { welcome: 'Hello from the other one' } } };
    equal((await other.admin('PATCH', `/clients/${client.id}/branding`, look)).status, 200);
    match(await pageOf(one, client.id), /Hello from the other one/);
    equal((await other.admin('POST', '/branding/restore', { version: 1 })).status, 200);
    equal((await one.admin('PATCH', '/branding', { accent: '#aa0033' })).status, 200);
    match(await pageAt(other), /--accent:#aa0033/);

    const sendIn = async () => {
      const body = { to: 'ann@example.com', mail: 'test', language: 'en' };
      equal((await other.admin('POST', '/settings/test-email', body)).status, 200);
      return mailbox.received.at(-1)?.mail.text;
    };
    doesNotMatch(String(await sendIn()), /Call 2222/);
    equal((await one.admin('PUT', '/branding/mails/test/en', { closing: 'Call 2222.' })).status, 200);
    match(String(await sendIn()), /Call 2222\./);
  } finally {
    await mailbox.close();
    await Promise.all([one.stop(), other.stop()]);
    for (const store of stores) await store.close();
    await rm(folder, { recursive: true, force: true });
  }
});
