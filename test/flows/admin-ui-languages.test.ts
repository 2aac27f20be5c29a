// The Admin UI in the administrator's language: by the browser's, by the choice at its foot, by the account's; its times and
// numbers too. Texts follow the catalogue of the language where there is one, and are English where not.
import { equal, match, ok } from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { readAdminTexts } from '../../src/views/translate/catalogue.ts';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let admin: Agent;
let user: string;

before(async () => {
  app = await startApp({ path: '/id' });
  await app.createUser('root-admin', { role: 'admin' });
  user = (await app.createUser('users', { email: 'users@example.com', name: 'Users' })).id;
  admin = new Agent(app);
  const signIn = await admin.follow(await admin.get(`${app.url}/admin`));
  equal((await admin.submit(signIn, { username: 'root-admin', password: PASSWORD })).status, 200);
});
after(() => app.stop());

const open = (path: string, language: string): Promise<Page> =>
  admin.get(`${app.url}/admin${path}`, { headers: { 'accept-language': language } });

/** What the catalogue says, else the English. */
function saying(language: string, text: string): string {
  const file = new URL(`../../templates/strings/admin/${language}.json`, import.meta.url);
  const translation = existsSync(file) ? readAdminTexts(file)[text] : undefined;
  return typeof translation === 'string' ? translation : (translation?.other ?? text);
}

test('language: pages are in the browser’s, with its direction, times and texts', async () => {
  for (const [asked, language, direction, ago] of [
    ['de-CH,de;q=0.9', 'de', 'ltr', /vor \d+ (?:Min\.|Tagen)|gerade|just now/],
    ['ar', 'ar', 'rtl', /قبل|just now|الآن/],
    ['ja', 'ja', 'ltr', /前|just now/],
    ['tlh', 'en', 'ltr', /just now/],
  ] as const) {
    const page = await open('/users', asked);
    equal(page.status, 200);
    equal(page.headers.get('content-language'), language);
    match(page.body, new RegExp(`<html lang="${language}" dir="${direction}">`));
    for (const text of ['Users', 'Audit log', 'Skip to content', 'Search by name or e-mail'])
      ok(page.body.includes(saying(language, text)), `${language}: ${text}`);
    ok(ago.test(page.body) || page.body.includes(saying(language, 'just now')), language);
    match(page.body, /<bdi>Users<\/bdi>/, 'a person’s name is not translated');
  }
});

test('attack: a name that is a word of ours; an act that asks first calls it so', async () => {
  const group = await app.admin('POST', '/groups', { name: 'settings', display_name: 'Settings' });
  equal(group.status, 201);
  const client = await app.admin('POST', '/clients', {
    client_name: 'Sessions',
    redirect_uris: ['https://a.example/cb'],
  });
  const application = String(client.body.data.client_id);
  for (const [path, name, question] of [
    [`/users/${user}/deactivate`, 'Users', 'Deactivate {a}?'],
    [`/users/${user}/role`, 'Users', 'Change the role of {a}'],
    [`/users/${user}/password`, 'Users', 'Set a password for {a}'],
    ['/groups/settings/delete', 'Settings', 'Delete the group {a}?'],
    [`/applications/${application}/delete`, 'Sessions', 'Delete {a}?'],
    [`/applications/${application}/rotate-secret`, 'Sessions', 'Rotate the secret of {a}?'],
  ] as const) {
    for (const language of ['de', 'ar']) {
      const { status, body } = await open(path, language);
      equal(status, 200, path);
      const said = saying(language, question).replace(
        '{a}',
        language === 'ar' ? `\u2068${name}\u2069` : name,
      );
      ok(body.includes(`<h1>${said}</h1>`), `${language} ${path}: ${/<h1>.*<\/h1>/.exec(body)?.[0]}`);
    }
  }
  const { body } = await open(`/applications/${application}/delete`, 'de');
  ok(body.includes(saying('de', 'Type “{a}” to continue').replace('{a}', 'Sessions')));
});

test('language: what a list is filtered by is said in it, names as they are', async () => {
  for (const [path, text, value] of [
    ['/users?group=settings', 'In {a}', 'Settings'],
    ['/users?created_at_from=2026-11-01T00:00:00Z', 'Created since {a}', '2026-11-01'],
    ['/audit?about=nobody', 'About {a}', '“nobody”'],
    [`/audit?actor_id=${user}`, 'By {a}', 'Users'],
    ['/audit?at_from=2026-11-01T00:00', 'Since {a} UTC', '2026-11-01 00:00'],
    [`/sessions?user_id=${user}`, 'User: {a}', user],
    [`/tokens?user_id=${user}`, 'User: {a}', 'Users'],
    ['/tokens?resource=https://orders.example', 'For the API {a}', 'https://orders.example'],
  ] as const)
    for (const language of ['de', 'ar']) {
      const { status, body } = await open(path, language);
      equal(status, 200, path);
      const said = saying(language, text).replace('{a}', language === 'ar' ? `\u2068${value}\u2069` : value);
      const chips = [...body.matchAll(/<span dir="auto">(.*?)<\/span>/g)].map(([, chip]) => chip);
      ok(chips.includes(said), `${language} ${path}: ${said}, not ${chips}`);
    }
});

test('language: notices, refusals and forms as well; the API stays English', async () => {
  const form = await open('/users/new', 'de');
  const refused = await admin.post(
    `${app.url}/admin/users/new`,
    { ...hiddenFields(form.body), username: 'a', email: 'no', password: '' },
    { headers: { 'accept-language': 'de' } },
  );
  equal(refused.status, 400);
  match(refused.body, /<html lang="de"/);
  ok(refused.body.includes(saying('de', 'Some fields are not valid.')));
  ok(refused.body.includes(saying('de', 'Must be an e-mail address such as alice@example.com.')));
  const api = await app.admin('POST', '/users', { username: 'a', email: 5 });
  equal(api.status, 400);
  match(JSON.stringify(api.body), /Some fields are not valid/);
});

test('language: an import says its columns, its refusals and its tally in the language', async () => {
  const form = await open('/users/import/csv', 'ar');
  const rows = 'Username,E-mail\nwrong name,no\nida,ida@example.com\nida,ida@example.com\n';
  for (const language of ['de', 'es', 'fr', 'pt', 'ja', 'ar']) {
    const { status, body } = await admin.post(
      `${app.url}/admin/users/import/csv`,
      { ...hiddenFields(form.body), rows },
      { headers: { 'accept-language': language } },
    );
    equal(status, 200);
    for (const text of ['Must be an e-mail address such as alice@example.com.', 'Username', 'Refused rows'])
      ok(body.includes(`>${saying(language, text)}<`), `${language}: ${text}`);
    ok(body.includes(`data-label="${saying(language, 'Imported as')}"`), language);
    const doubled = saying(language, 'Row {a} has the same username or e-mail address.').split('{a}');
    ok(
      doubled.every((part) => body.includes(part)),
      `${language}: ${doubled.join('3')}`,
    );
    for (const text of ['New users', 'Nothing to change', 'Users that change'])
      ok(body.includes(`<dt>${saying(language, text)}</dt>`), `${language}: ${text}`);
  }
});

test('language: how many of what, in the plural forms of the language', async () => {
  // The administrator and the person above are two, and grow by one each.
  const english = await open('/users', 'en');
  match(english.body, /1–2 of 2 users/);
  ok((await open('/users', 'de')).body.includes('Benutzer 1–2 von 2'));
  match((await open('/users', 'ar')).body, /1–2 من 2 مستخدمَين/);
  await app.createUser('third');
  match((await open('/users', 'ar')).body, /1–3 من 3 مستخدمين/);
  for (const [language, one] of [
    ['en', 'Deactivate 1 user?'],
    ['de', '1 Benutzer deaktivieren?'],
    ['ar', 'هل تريد تعطيل مستخدم واحد؟'],
  ] as const) {
    const chosen = { ...hiddenFields(english.body), [`user.${user}`]: 'on', act: 'deactivate' };
    const asked = await admin.post(`${app.url}/admin/users/selected`, chosen, {
      headers: { 'accept-language': language },
    });
    ok(asked.body.includes(`<h1>${one}</h1>`), `${language}: ${/<h1>.*<\/h1>/.exec(asked.body)?.[0]}`);
  }
  for (const [language, one, many] of [
    ['en', 'of 1 event', /of \d+ events/],
    ['de', 'Ereignis 1–1 von 1', /Ereignisse 1–\d+ von \d+/],
    ['ar', '1–1 من 1 حدث', /1–\d+ من \d+ (?:أحداث|حدثًا)/],
  ] as const) {
    const { body } = await open('/audit?search=third', language);
    ok(body.includes(one), `${language}: ${one}`);
    match((await open('/audit', language)).body, many);
  }
});

test('language: who did it and what it is about, in the words of the page', async () => {
  const { items } = (await app.admin('GET', '/audit?event=user.created&limit=1')).body.data;
  const path = `/audit/${items?.[0]?.id}`;
  const { body } = await open(path, 'de');
  ok(body.includes('<small>Token der Umgebung</small>'));
  ok(body.includes('<small>Benutzer</small>'));
  ok(!/bootstrap/.test(body));
  const twins = ['Twin', 'Twin'].map((name) =>
    app.admin('POST', '/clients', { client_name: name, redirect_uris: ['https://app.example/callback'] }),
  );
  await Promise.all(twins);
  const picked = await open('/audit?application=Twin', 'ar');
  match(picked.body, /<small>التطبيق<\/small>/);
});

test('language: names that equal texts of ours stay as they are, in choices too', async () => {
  const group = await app.admin('POST', '/groups', { name: 'name', display_name: 'Name' });
  equal(group.status, 201);
  const users = await open('/users', 'ar');
  match(users.body, /<option translate="no" value="name">Name<\/option>/);
  const made = await app.admin('POST', '/clients', {
    client_name: 'Users',
    redirect_uris: ['https://app.example/callback'],
  });
  equal(made.status, 201);
  const [, id = ''] = /"client_id":"([^"]+)"/.exec(JSON.stringify(made.body)) ?? [];
  const { body } = await open(`/applications/${id}/claims`, 'ar');
  match(body, /title="Users"><bdi>Users<\/bdi><\/a><\/li>/, 'a breadcrumb');
  for (const scope of ['groups', 'roles', 'email'])
    ok(body.includes(`<b translate="no">${scope}</b>`), `scope ${scope}`);
});

test('language: German and Arabic say their own words for mails and guides', async () => {
  for (const [language, ...words] of [
    ['de', 'Bestätigung der E-Mail-Adresse', 'Benutzer', 'Einladung'],
    ['ar', 'تأكيد البريد الإلكتروني', 'المستخدمون', 'دعوة'],
  ] as const) {
    const { body } = await open('/branding/mails', language);
    for (const word of words) ok(body.includes(word), `${language}: ${word}`);
    ok(!body.includes('E-mail verification'), language);
  }
});

test('language: titles that are names, ratios, states of the gallery, anonymous actors', async () => {
  // A person called “Users”: the title of their page is data.
  for (const language of ['de', 'ar'])
    match((await open(`/users/${user}`, language)).body, /<title translate="no">Users · /);
  match((await open('/users', 'de')).body, /<title>Benutzer · /);
  const ratio = (page: Page): string => /<b dir="ltr">([\d.,]+) : 1<\/b>/.exec(page.body)?.[1] ?? '';
  const inEnglish = ratio(await open('/branding', 'en'));
  match(inEnglish, /^\d+\.\d$/);
  for (const language of ['de', 'fr', 'es', 'pt'])
    equal(ratio(await open('/branding', language)), inEnglish.replace('.', ','), language);
  const gallery = await open('/branding/gallery?group=Sign-in', 'de');
  match(gallery.body, />Anmeldung: Zu viele Versuche</);
  match(gallery.body, /data-title="Anmeldung: Zu viele Versuche"/);
  match(gallery.body, /placeholder="Suche"/);
  match(gallery.body, /<details class="languages"><summary>\s*<svg class="icon"/);
  // A wrong password of nobody: who did it is a word of ours, isolated like a name.
  await admin.get(`${app.url}/admin/audit`);
  const failed = await new Agent(app).get(`${app.url}/account`);
  equal(failed.status < 500, true);
  const { items } = (await app.admin('GET', '/audit?limit=50')).body.data;
  const nobody = items?.find(({ actor_kind: kind }) => kind === 'anonymous' || kind === 'system');
  if (nobody !== undefined)
    match(
      (await open(`/audit/${nobody.id}`, 'de')).body,
      /<span dir="auto">(?:Anonym|Latchkey selbst)<\/span>/,
    );
});

test('language: chosen at the foot of a page, it is kept and leads back to the page', async () => {
  const page = await open('/groups?search=x', 'de');
  const form = page.body.split('class="languages"')[1] ?? '';
  const { to } = hiddenFields(form);
  equal(to, '/id/admin/groups?search=x');
  const back = await admin.follow(
    await admin.post(`${app.url}/oauth2/language`, { to: to ?? '', language: 'pt' }),
  );
  match(back.body, /<html lang="pt"/);
  ok(back.url.endsWith('/id/admin/groups?search=x'));
});

test('language: the account’s own comes first, and the foot leads to the account', async () => {
  const own = await app.createUser('second-admin', { role: 'admin', locale: 'fr-CA' });
  ok(own.id !== user);
  const agent = new Agent(app);
  const signIn = await agent.follow(await agent.get(`${app.url}/admin`));
  await agent.submit(signIn, { username: 'second-admin', password: PASSWORD });
  const page = await agent.get(`${app.url}/admin`, { headers: { 'accept-language': 'ja' } });
  match(page.body, /<html lang="fr"/);
  match(page.body, /<footer class="foot">\s*<a href="\/id\/account\/profile">/);
});

test('language: guides and the API reference stay English, and say so', async () => {
  const page = await open('/api-reference/users', 'ar');
  match(page.body, /<div class="english" lang="en" dir="ltr">/);
  ok(page.body.includes('Unlock a user'));
  // A sentence between codes, of which a part is a word of ours.
  match((await open('/api-reference', 'de')).body, /<code>next<\/code> of the previous page/);
});
