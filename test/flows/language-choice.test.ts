// The language of the sign-in pages: chosen by a form, kept in a cookie of its own, and nobody's business but this browser's.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import { Agent, codeRequest, type Page } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';
import { openMailbox } from '../support/mailbox.ts';

const app = await startApp({ store: 'sqlite', path: '/auth' });
const mailbox = await openMailbox(app);
after(async () => {
  await app.stop();
  await mailbox.close();
});
const client = await app.register();
await app.createUser('alice', { email: 'alice@example.com', is_email_verified: true });

const languageOf = (page: Page): string | null => page.headers.get('content-language');
const open = (agent: Agent, more: Record<string, string> = {}): Promise<Page> =>
  agent.authorize({ ...codeRequest(client.id), ...more });
const choose = (agent: Agent, language: string, to: string, headers = {}): Promise<Page> =>
  agent.post(`${app.url}/oauth2/language`, { language, to }, { headers });
/** Where the page's own menu leads back to. */
const hereOf = (page: Page): string =>
  (/name="to" value="([^"]*)"/.exec(page.body)?.[1] ?? 'none').replaceAll('&amp;', '&');

test('language: the request and the browser count until one is chosen, then the choice', async () => {
  const agent = new Agent(app);
  const first = await open(agent, { ui_locales: 'fr' });
  equal(languageOf(first), 'fr');
  const back = await agent.follow(await choose(agent, 'ar', hereOf(first)));
  equal(languageOf(back), 'ar');
  match(back.body, /<html lang="ar" dir="rtl">/);
  match(back.body, /name="password"/, 'the same sign-in goes on');
  equal(languageOf(await open(agent, { ui_locales: 'fr' })), 'ar');
  const failed = await agent.submit(back, { username: 'alice', password: 'wrong' });
  equal(languageOf(failed), 'ar');
  match(
    hereOf(failed),
    /^\/auth\/oauth2\/login\?/,
    'the answer to a form can be read in another language too',
  );
  const done = await agent.submit(failed, { username: 'alice', password: PASSWORD });
  match(done.location ?? '', /[?&]code=/);
});

test('language: every sign-in page offers all of them, by buttons that need no scripts', async () => {
  const { body } = await open(new Agent(app));
  const offered = [...body.matchAll(/<button name="language" value="(\w+)"/g)].map(([, tag]) => tag);
  deepEqual(offered, ['en', 'de', 'es', 'fr', 'pt', 'ja', 'ar']);
});

test('language: mails come in the chosen one', async () => {
  const agent = new Agent(app);
  const asked = await agent.follow(await choose(agent, 'de', '/auth/oauth2/forgot-password'));
  equal(languageOf(asked), 'de');
  const sent = await agent.submit(asked, { email: 'alice' });
  equal(sent.status, 200);
  match(await mailbox.linkTo('alice@example.com'), /reset-password/);
  match(mailbox.received.at(-1)?.mail.text ?? '', /Passwort/);
});

test('account: the language of the profile counts, whatever this browser chose', async () => {
  const user = await app.createUser('bob', { locale: 'es' });
  ok(user.id);
  const agent = new Agent(app);
  const form = await agent.follow(await agent.get(`${app.url}/account`));
  await choose(agent, 'ja', '/auth/');
  const page = await agent.submit(form, { username: 'bob', password: PASSWORD });
  equal(languageOf(page), 'es');
});

test('attack: a language form that leads elsewhere leads to the start page', async () => {
  for (const to of [
    'https://evil.example/auth/',
    '//evil.example/auth/',
    '/\\evil.example/auth/',
    '/auth/.//evil.example',
    '/auth/..//evil.example/auth/',
    '/auth/%2e%2e//evil.example',
    '/auth/../../evil',
    '/authority',
    'javascript:alert(1)',
    '',
  ]) {
    const page = await choose(new Agent(app), 'de', to);
    const url = new URL(page.location ?? '');
    deepEqual([page.status, url.origin], [303, new URL(app.url).origin], to);
    ok(url.pathname.startsWith('/auth/'), to);
  }
});

test('attack: another site chooses no language; an unknown one is refused and not kept', async () => {
  const agent = new Agent(app);
  equal((await choose(agent, 'de', '/auth/', { origin: 'https://evil.example' })).status, 403);
  equal((await choose(agent, 'de"><script>', '/auth/')).status, 400);
  equal(agent.cookiesFor('/auth/'), '');
  agent.plant('latchkey_language=de"><script>; latchkey_language=xx');
  const page = await open(agent);
  equal(languageOf(page), 'en');
  ok(!page.body.includes('<script>'));
});
