// Everything that somebody can name is named like a text of ours: on no page in another language does it get another name.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readAdminTexts } from '../../src/views/translate/catalogue.ts';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';

/** Texts of ours that no page of the walk has. */
const NAME = 'Picture removed. The user can add another one.';
const WORD = 'succeeded';
const LANGUAGES = ['de', 'ar', 'ja'] as const;

let app: TestApp;
let admin: Agent;

const textsOf = (language: string) =>
  readAdminTexts(new URL(`../../templates/strings/admin/${language}.json`, import.meta.url));

function saying(language: string, text: string, ...values: readonly string[]): string {
  const translation = textsOf(language)[text] ?? '';
  const form = typeof translation === 'string' ? translation : (translation.other ?? '');
  return form.replace(/\{([a-z])\}/g, (_, letter: string) => {
    const value = values[letter.charCodeAt(0) - 97] ?? '';
    return language === 'ar' ? `\u2068${value}\u2069` : value;
  });
}

const open = (path: string, language: string): Promise<Page> =>
  admin.get(path.startsWith('/admin') ? `${app.url}${path}` : path, {
    headers: { 'accept-language': language },
  });

async function create(path: string, body: object): Promise<void> {
  const response = await app.admin('POST', path, body);
  equal(response.status, 201, `${path} ${JSON.stringify(response.body)}`);
}

before(async () => {
  app = await startApp();
  await app.createUser('root-admin', { role: 'admin' });
  const user = (await app.createUser(WORD, { email: 'x@example.com', name: NAME })).id;
  await create('/groups', { name: WORD, display_name: NAME, description: NAME });
  await create('/clients', {
    client_name: NAME,
    redirect_uris: ['https://a.example/callback'],
    allowed_groups: [WORD],
  });
  await create('/clients', {
    client_name: NAME,
    grant_types: ['client_credentials'],
    redirect_uris: [],
  });
  await create('/resources', {
    identifier: 'https://api.example',
    name: NAME,
    scopes: [{ name: WORD, description: NAME, groups: [WORD] }],
  });
  await create('/initial-access-tokens', { label: NAME });
  await create('/api-keys', { name: NAME, scopes: ['admin:read'] });
  const member = await app.admin('POST', `/groups/${WORD}/members`, { user_id: user });
  ok(member.status < 300, JSON.stringify(member.body));
  admin = new Agent(app);
  const signIn = await admin.follow(await admin.get(`${app.url}/admin`));
  equal((await admin.submit(signIn, { username: 'root-admin', password: PASSWORD })).status, 200);
  const own = new Agent(app);
  const page = await own.follow(await own.get(`${app.url}/account`));
  await own.submit(page, { username: WORD, password: 'wrong password of theirs' });
  await own.post(
    new URL(/<form[^>]*action="([^"]*)"/.exec(page.body)?.[1] ?? '', page.url).href,
    { ...hiddenFields(page.body), username: WORD, password: PASSWORD },
    { headers: { 'user-agent': NAME } },
  );
});
after(() => app.stop());

/** Where a page leads, besides lists by other orders, exports, and the guides, which are English. */
const linksOf = ({ body }: Page): string[] =>
  [...body.matchAll(/href="(\/admin[^"#]*)"/g)]
    .map(([, href = '']) => href.replaceAll('&amp;', '&'))
    .filter(
      (href) =>
        !/[?&](?:sort|order|cursor|offset)=|&|\/export|\/download|api-reference|\/connect\/|\/live|\/sample/.test(
          href,
        ),
    );

const shapeOf = (path: string): string =>
  path
    .replaceAll(/\/(?=[^/]*\d)[\w-]{12,}/g, '/:id')
    .replace(/\/(mails|settings|new)\/(?!import)[\w/-]+$/, '/$1/:what');

async function walk(language: string, visit: (path: string, page: Page) => void): Promise<number> {
  const waiting = ['/admin', `/admin/audit?search=${WORD}`, '/admin/audit?by=a', `/admin/search?q=${WORD}`];
  const known = new Set(waiting);
  const seen = new Map<string, number>();
  let count = 0;
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const shape = shapeOf(path.replace(/=[^&]*/g, ''));
    const times = (seen.get(shape) ?? 0) + 1;
    seen.set(shape, times);
    if (times > (shape === '/admin/audit/:id' ? 30 : 3)) continue;
    const page = await open(path, language);
    if (!(page.headers.get('content-type') ?? '').startsWith('text/html')) continue;
    count += 1;
    visit(path, page);
    for (const link of linksOf(page))
      if (!known.has(link)) {
        known.add(link);
        waiting.push(link);
      }
  }
  return count;
}

for (const language of LANGUAGES)
  test(`attack: named like a text of ours, nothing gets another name on any page: ${language}`, async () => {
    const texts = textsOf(language);
    // In Japanese the word is one of the audit log, too.
    const name = [String(texts[NAME]), ...(language === 'ja' ? [] : [String(texts[WORD])])].join('|');
    const wrong: string[] = [];
    let shown = 0;
    const count = await walk(language, (path, { body }) => {
      if (body.includes(NAME)) shown += 1;
      for (const [at] of [...body.matchAll(new RegExp(`.{0,60}(?:${name}).{0,60}`, 'g'))])
        wrong.push(`${path}: ${at}`);
    });
    ok(count > 80, String(count));
    ok(shown > 40, String(shown));
    deepEqual(wrong, []);
  });

test('attack: in audit sentences, questions and titles each name is whole and itself', async () => {
  const { items = [] } = (await app.admin('GET', '/audit?limit=100')).body.data;
  const idOf = (event: string): string => {
    const found = items.find((one) => one.event === event);
    ok(found !== undefined, event);
    return String(found.id);
  };
  for (const language of LANGUAGES) {
    for (const [event, sentence, ...names] of [
      ['group.created', '{a} created the group {b}.', 'ADMIN_TOKEN', NAME],
      ['api_key.created', '{a} created the API key {b}.', 'ADMIN_TOKEN', NAME],
      ['client.created', '{a} registered the application {b}.', 'ADMIN_TOKEN', NAME],
      ['api.created', '{a} created the API {b}.', 'ADMIN_TOKEN', NAME],
      ['group.member_added', '{a} added {b} to a group.', 'ADMIN_TOKEN', NAME],
    ] as const) {
      const { body } = await open(`/admin/audit/${idOf(event)}`, language);
      const said = saying(language, sentence, ...names);
      ok(body.includes(`<p class="lead" dir="auto">${said}</p>`), `${language} ${event}: ${said}`);
    }
    const question = await open(`/admin/groups/${WORD}/delete`, language);
    const said = saying(language, 'Delete the group {a}?', NAME);
    ok(question.body.includes(`<h1>${said}</h1>`), said);
    ok(question.body.includes(`<title>${said} · Latchkey</title>`), said);
    ok(question.body.includes(saying(language, 'Type “{a}” to continue', WORD)), 'what to type');
    ok(
      question.body.includes(
        `<li>${saying(language, 'Only its members can sign in to {a}. Change that first; otherwise the group cannot be deleted.', NAME)}</li>`,
      ),
    );
    const page = await open(`/admin/groups/${WORD}`, language);
    ok(
      page.body.includes(`title="${saying(language, 'Remove from {a}', NAME)}"`) ||
        page.body.includes(saying(language, '{a} from this group', NAME)),
    );
  }
});

test('attack: what names are kept apart with is neither in JSON nor in CSV', async () => {
  for (const path of [
    '/admin/audit/export?format=csv',
    '/admin/audit/export?format=jsonl',
    '/admin/users/export?format=csv',
  ]) {
    const { body } = await admin.get(`${app.url}${path}`, { headers: { 'accept-language': 'ar' } });
    ok(body.includes(WORD), path);
    ok(!/[\u2066-\u2069]|\[object|\{a\}/.test(body), path);
  }
  const { body } = await app.admin('GET', `/groups/${WORD}`);
  equal(body.data.display_name, NAME);
});
