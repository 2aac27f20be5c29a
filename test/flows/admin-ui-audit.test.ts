// The audit page of the Admin UI: every event has a label, sign-ins show client and factors, token events are filtered and
// counted, and an event of each class can be opened.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sentenceOf } from '../../src/admin/resources/audit/sentences.ts';
import { eventNames } from '../../src/model/events/events.ts';
import { Agent, type Page, redeem, refresh } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let admin: Agent;

before(async () => {
  app = await startApp();
  await app.createUser('root-admin', { role: 'admin' });
  const client = await app.register({ client_name: 'Ledger' });
  const user = await app.createUser('grace');
  const { body } = await redeem(app, client, await new Agent(app).signIn(client.id, user));
  const { body: again } = await refresh(app, client, body.refresh_token);
  await refresh(app, client, again.refresh_token);
  await refresh(app, client, 'nonsense');
  admin = new Agent(app);
  const signIn = await admin.follow(await admin.get('/admin'));
  equal((await admin.submit(signIn, { username: 'root-admin', password: PASSWORD })).status, 200);
});
after(() => app.stop());

async function open(path: string): Promise<Page> {
  const page = await admin.get(`/admin${path}`);
  equal(page.status, 200, path);
  return page;
}

/** The rows of the list, as text. */
const rowsOf = ({ body }: Page): string[] =>
  [...body.matchAll(/<tr><th scope="row">([\s\S]*?)<\/tr>/g)].map(([, row = '']) =>
    row.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' '),
  );

test('audit page: starts with sign-ins and changes; a sign-in shows client and factors', async () => {
  const rows = rowsOf(await open('/audit'));
  ok(rows.some((row) => /Signed in.*Ledger/.test(row) && row.includes('password')));
  ok(!rows.some((row) => row.includes('Tokens')));
});

test('audit page: token events by filter: issued, refreshed with counts, refused with reason', async () => {
  const page = await open('/audit');
  match(page.body, /href="[^"]*\/audit\?class=tokens"/);
  const rows = rowsOf(await open('/audit?class=tokens'));
  ok(
    rows.some((row) => /Tokens issued.*Ledger/.test(row)),
    rows.join('\n'),
  );
  ok(
    rows.some((row) => /Tokens refreshed.*[12] in this hour/.test(row)),
    rows.join('\n'),
  );
  ok(rows.some((row) => /Token request refused.*code or token not valid.*1 in this minute/.test(row)));
  ok(!rows.some((row) => row.includes('Signed in')));
  const both = rowsOf(await open('/audit?class=all'));
  ok(both.some((row) => row.includes('Signed in')) && both.some((row) => row.includes('Tokens issued')));
});

test('audit page: an event of each class can be opened', async () => {
  for (const query of ['', '?class=tokens']) {
    const [, path = ''] =
      /href="[^"]*\/admin(\/audit\/[0-9a-f-]{36})"/.exec((await open(`/audit${query}`)).body) ?? [];
    match((await open(path)).body, /<dt>Event<\/dt>/);
  }
});

/** The page of the newest event of a kind. */
async function eventPage(event: string): Promise<string> {
  const { body } = await open(`/audit?event=${event}`);
  const [, path = ''] = /href="[^"]*\/admin(\/audit\/[0-9a-f-]{36})"/.exec(body) ?? [];
  return (await open(path)).body;
}

const termsOf = (html: string): string[] =>
  [...html.matchAll(/<dt><code>(\w+)<\/code><\/dt><dd translate="no">/g)].map(([, name = '']) => name);

test('audit page: of something new what was set, defaults apart; of a change only what changed', async () => {
  const client = await app.register({ client_name: 'Set and changed', skip_consent: true });
  const [asked = '', defaults = ''] = (await eventPage('client.created')).split('Values by default');
  ok(asked.includes('What was set') && !asked.includes('Before'));
  ok(termsOf(asked).includes('client_name') && !termsOf(asked).includes('require_pkce'), asked);
  ok(termsOf(defaults).includes('require_pkce') && !termsOf(defaults).includes('client_name'));
  await app.admin('PATCH', `/clients/${client.id}`, { client_name: 'Changed' });
  const changed = await eventPage('client.updated');
  deepEqual(
    [...changed.matchAll(/<tr><th scope="row"><code>(\w+)</g)].map(([, name]) => name),
    ['client_name'],
  );
  match(changed, /<del[^>]*>Set and changed<[\s\S]*<ins[^>]*>Changed</);
  await app.admin('DELETE', `/clients/${client.id}`);
  const deleted = await eventPage('client.removed');
  ok(deleted.includes('What was deleted') && termsOf(deleted).includes('client_name'));
});

test('audit page: every event of the catalogue is a sentence, and names are no placeholders', () => {
  for (const name of eventNames) {
    const whole = String(sentenceOf(name, { actor: 'Grace', target: '{actor}', client: '[Ledger]' }));
    const bare = String(sentenceOf(name, { actor: 'Grace' }));
    for (const sentence of [whole, bare]) match(sentence, /^[^ ].*[^ ]\.$/, name);
    ok(!/[{}[\]]| {2}| \.| ,/.test(bare), `${name}: ${bare}`);
    ok(!/Grace\W+Grace/.test(whole), `${name}: ${whole}`);
  }
  equal(sentenceOf('later.version', { actor: 'Grace' }), undefined);
});

test('audit page: who and what by name: one found, several to choose from, none', async () => {
  const ada = await app.createUser('ada', { name: 'Ada Smith', email: 'ada@example.com' });
  await app.createUser('adam', { name: 'Adam Smith' });
  const going = async (query: string): Promise<string> =>
    (await admin.get(`/admin/audit?${query}`)).headers.get('location') ?? '';
  match(
    await going('about=ada%40example.com&outcome=success'),
    /\/audit\?outcome=success&target_id=[0-9a-f-]{36}$/,
  );
  match(
    await going(`about=${encodeURIComponent('Ada Smith (ada@example.com)')}`),
    new RegExp(`target_id=${ada.id}$`),
  );
  match(await going('application=ledg'), /\/audit\?client_id=/);
  const several = (await open('/audit?by=smith&event=user.created')).body;
  match(several, /who is “<bdi>smith<\/bdi>”/);
  match(several, new RegExp(`/audit\\?event=user.created&amp;actor_id=${ada.id}"><bdi>Ada Smith`));
  match((await open('/audit?by=%3Cb%3Enobody')).body, /nothing is called “<bdi>&lt;b&gt;nobody<\/bdi>”/);
  match((await open(`/audit?target_id=${ada.id}`)).body, /<span dir="auto">About Ada Smith<\/span>/);
});

test('audit page: text search finds by reason, details and address, and offers names', async () => {
  await app.createUser('searched-one');
  ok(rowsOf(await open('/audit?search=searched-one')).some((row) => row.includes('User created')));
  equal(rowsOf(await open('/audit?search=searched-one+nothing')).length, 0);
  const { body } = await open('/audit?search=signed');
  match(body, /Event: Signed in/);
  match((await open('/audit?search=grace')).body, /<span dir="auto">Done by grace<\/span>/);
});

test('audit live view: only new events, keeps no session alive, ends with it', async () => {
  const first = await admin.get('/admin/audit/live?event=user.created');
  equal(first.status, 200);
  equal(first.headers.get('set-cookie'), null);
  const tag = first.headers.get('etag') ?? '';
  const again = (headers: Record<string, string>) =>
    admin.get('/admin/audit/live?event=user.created', { headers });
  equal((await again({ 'if-none-match': tag })).status, 304);
  await app.createUser('<script>alert(1)</script>'.replaceAll(/[<>()/]/g, ''), {
    name: '<img src=x onerror=alert(1)>',
  });
  const changed = await again({ 'if-none-match': tag });
  equal(changed.status, 200);
  ok(!changed.body.includes('<img src=x'));
  match(changed.body, /&lt;img src=x/);
  const stranger = await new Agent(app).get('/admin/audit/live');
  equal(stranger.status, 401);
  equal(stranger.headers.get('location'), null);
  // Asked for all the time, and still signed out after the idle time.
  const other = new Agent(app);
  await other.submit(await other.follow(await other.get('/admin')), {
    username: 'root-admin',
    password: PASSWORD,
  });
  let status = 200;
  for (let minute = 0; minute < 180 && status !== 401; minute += 20) {
    app.advance(20 * 60_000);
    status = (await other.get('/admin/audit/live')).status;
  }
  equal(status, 401);
});
