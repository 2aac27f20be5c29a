// The audit page of the Admin UI: every event has a label, sign-ins show client and factors, token events are filtered and
// counted, and an event of each class can be opened.
import { equal, match, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
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
