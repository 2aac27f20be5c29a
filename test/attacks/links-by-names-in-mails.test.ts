// Attack: mail programs make links of texts that look like addresses. Whoever chooses a name (of an account, an application, a
// place) would put a link of theirs, or markup, into our mails, which we sign and their readers trust.
import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import { simpleParser } from 'mailparser';
import { compose } from '../../src/mail/compose.ts';
import { shown } from '../../src/mail/values.ts';
import { createMailViews } from '../../src/mail/views.ts';
import { mailNames } from '../../src/model/mails.ts';
import { sampleValues } from '../mail/samples.ts';
import { baseUrl, start } from '../mail/support.ts';
import { plainTheme } from '../pages/server.ts';
import { Agent, hiddenFields } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';
import { openMailbox } from '../support/mailbox.ts';

const app = await startApp();
const mailbox = await openMailbox(app);
after(async () => {
  await app.stop();
  await mailbox.close();
});

const HOSTILE = [
  'https://evil.example/win',
  'http:\\\\evil.example',
  'evil.com',
  'www.evil.com/prize',
  'Ann (evil.co.uk) Smith',
  'eve@evil.com',
  'mailto:eve@evil.com',
  'evil\u3002com',
  'evil\uff0ecom',
  'https\uff1a\uff0f\uff0fevil.com',
  '1.2.3.4/prize',
  '//evil.com',
  'ev\u00adil.com',
  '<a href="https://evil.com">Ann</a>',
  '"><img src="https://evil.com/x.png">',
  '<!--[if mso]><a href="https://evil.com">x</a><![endif]-->',
  'Ann\r\nhttps://evil.com\r\n',
  '&#104;ttps://evil.com',
  '{{ 7*7 }}{product}</style><script>alert(1)</script>',
  '\u202emoc.live//:sptth',
];

/** As programs do: with every top-level domain there is, and with scripts' own dots. mailparser links like linkify-it. */
async function linksIn(text: string): Promise<string[]> {
  const one = { id: 'x', to: 'ann@example.com', createdAt: start, subject: 'x', text, html: '' };
  const raw = await compose(one, { name: 'Latchkey', address: 'robot@example.com', replyTo: '' });
  const { textAsHtml = '' } = await simpleParser(raw);
  return [...textAsHtml.matchAll(/href="([^"]*)"/g)].map(([, link = '']) => link);
}

const visible = (html: string): string =>
  html
    .replace(/<head>.*<\/head>/s, '')
    .replace(/<!--.*?-->/gs, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');

test('the way links are found here: an address in a text is one', async () => {
  deepEqual(await linksIn('go to evil.com or www.evil.com/x'), ['http://evil.com', 'http://www.evil.com/x']);
});

test('attack: names that look like addresses, or are markup, in any mail: no link but ours', async () => {
  const read: string[] = [];
  for (const hostile of HOSTILE) {
    const own = { name: hostile, username: hostile, device: hostile, ipAddress: hostile };
    const ways = { inviter: hostile, application: hostile, timeZone: hostile };
    const placeOf = () => hostile;
    const render = createMailViews({ theme: () => plainTheme, baseUrl, placeOf });
    for (const name of mailNames) {
      const { html, text, subject } = render(name, sampleValues(name, { ...own, ...ways }), 'en');
      const sane = render(name, sampleValues(name), 'en');
      // A long address may break between its parts.
      const tags = (of: string): string[] => of.replaceAll('<wbr>', '').match(/<[a-z!/][^>\s]*/g) ?? [];
      equal(subject, sane.subject);
      ok(!html.includes('href="https://evil') && !/<(?:img|script)/.test(html), `${name}: ${hostile}`);
      deepEqual([...new Set(tags(html))].sort(), [...new Set(tags(sane.html))].sort(), `${name}: ${hostile}`);
      read.push(text, visible(html));
    }
  }
  for (const link of await linksIn(read.join('\n\n'))) ok(link.startsWith(baseUrl), link);
});

test('attack: an administrator’s name and an application’s name as links in invitations', async () => {
  const client = await app.register({ client_name: 'evil.com' });
  await app.createUser('inviter', { role: 'admin', name: 'Win at https://evil.com <b>now</b>' });
  const agent = new Agent(app);
  const signIn = await agent.follow(await agent.get('/admin'));
  await agent.submit(signIn, { username: 'inviter', password: PASSWORD });
  const page = await agent.get('/admin/invitations');
  const sent = await agent.post('/admin/invitations', {
    csrf: hiddenFields(page.body).csrf ?? '',
    email: 'guest@example.com',
    days: '3',
    client_id: client.id,
    send_mail: 'on',
  });
  ok(sent.status < 400, sent.body);
  const link = await mailbox.linkTo('guest@example.com');
  const mail = mailbox.received.findLast(({ to }) => to.includes('guest@example.com'))?.mail;
  const { text = '', html, textAsHtml = '', subject } = mail ?? {};
  equal(subject, 'Your invitation to Latchkey');
  match(text, /^Win at https:\u200b\/\u200b\/\u200bevil\.\u200bcom <b>now<\/\u200bb> invites you/m);
  match(text, /sign in to evil\.\u200bcom\.$/m);
  doesNotMatch(String(html), /<b>now|href="[^"]*evil/);
  for (const [, found = ''] of textAsHtml.matchAll(/href="([^"]*)"/g)) ok(!found.includes('evil'), found);
  ok(link.startsWith(app.url));
});

test('attack: a name with a digit beside its dot, which mail programs make a link of', () => {
  for (const name of ['evil1.com', 'www.4evil.com', '2.evil9.io', '9.com', 'evil1\uff0ecom'])
    doesNotMatch(shown(name), /[\p{L}\p{N}][.\uff0e][\p{L}\p{N}]/u, name);
  for (const name of ['Dr. Who', 'J. R. R. Tolkien', 'Version 2.']) equal(shown(name), name);
});

test('attack: a username as a link in a mail; copied from there it signs in', async () => {
  await app.createUser('win.evil.com', { email: 'victim@example.com', is_email_verified: true });
  const agent = new Agent(app);
  const form = await agent.get('/oauth2/forgot-password');
  await agent.submit(form, { email: 'victim@example.com' });
  await mailbox.deliver();
  const { text = '', textAsHtml = '' } =
    mailbox.received.findLast(({ to }) => to.includes('victim@example.com'))?.mail ?? {};
  const [, shown = ''] = /Account: (.+)/.exec(text) ?? [];
  equal(shown.replaceAll('\u200b', ''), 'win.evil.com');
  for (const [, found = ''] of textAsHtml.matchAll(/href="([^"]*)"/g)) ok(!found.includes('evil'), found);
  const copied = new Agent(app);
  const signIn = await copied.follow(await copied.get('/account'));
  await copied.submit(signIn, { username: shown, password: PASSWORD });
  equal((await copied.get('/account')).status, 200);
});
