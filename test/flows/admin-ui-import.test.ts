// A table of users as an administrator imports it: previewed, confirmed, carried out by a job, stopped, gone on with, reported;
// and what others try with it. Every table is small.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { audit, leases as jobLeases } from '../../src/store/collections.ts';
import type { Collection, CollectionDefinition, Store } from '../../src/store/port.ts';
import { userImportParts, userImports } from '../../src/store/user-imports.ts';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, SECRET_KEY, startApp, type TestApp } from '../support/app.ts';
import { isWithin } from '../support/patience.ts';

const PATH = '/admin/users/import/csv';

let app: TestApp;
let admin: Agent;

async function signedIn(username: string): Promise<Agent> {
  const agent = new Agent(app);
  const page = await agent.follow(await agent.get('/admin'));
  equal((await agent.submit(page, { username, password: PASSWORD })).status, 200);
  return agent;
}

before(async () => {
  app = await startApp({ env: { SECRET_KEY } });
  await app.createUser('root-admin', { role: 'admin' });
  await app.createUser('other-admin', { role: 'admin' });
  await app.createUser('ann', { role: 'auditor' });
  await app.createUser('grace', { email: 'grace@example.com', name: 'Grace' });
  for (const name of ['staff', 'on-call']) await app.admin('POST', '/groups', { name });
  admin = await signedIn('root-admin');
});
after(() => app.stop());

const csrfOf = async (agent: Agent, path = PATH): Promise<string> =>
  hiddenFields((await agent.get(path)).body).csrf ?? '';

const submit = async (fields: Record<string, string>): Promise<Page> =>
  admin.post(PATH, { csrf: await csrfOf(admin), ...fields });

const found = async (name: string) =>
  (await app.admin('GET', `/users?search=${encodeURIComponent(name)}`)).body.data.items?.find(
    ({ username }) => username === name,
  );

/** Of words between tags, one line. */
const words = ({ body }: Page): string => body.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

async function begin(rows: string, fields: Record<string, string> = {}): Promise<string> {
  const begun = await submit({ rows, step: 'import', ...fields });
  equal(begun.status, 303, words(begun));
  return new URL(begun.location ?? '').pathname;
}

async function carriedOut(path: string): Promise<Page> {
  app.advance(3_000);
  await app.app.jobs.tick();
  const page = await admin.get(path);
  match(page.body, /import is (?:done|stopped)/);
  return page;
}

const everyRow = async () =>
  (await app.store.collection(userImportParts).query({ sort: 'id', order: 'asc', limit: 100 })).items;

test('import of a table: each row is judged, and nothing written before it is confirmed', async () => {
  const rows = [
    'login;mail;Full Name;groups;colour',
    'alan;alan@example.com;Alan Turing;staff,on-call;red',
    'grace;grace@example.com;Grace Hopper;staff;',
    'root-admin;;Root;;',
    'bad name;;;;',
    'joan;grace@example.com;;;',
    'alan2;alan@example.com;;;',
    'mary;mary@example.com;;nowhere;',
    '',
    'x;not-an-address;;;',
  ].join('\n');
  const plain = words(await submit({ rows }));
  match(plain, /Preview of 8 rows/);
  match(plain, /New users 1 Users that change 0 Nothing to change 0 Refused rows 7/);
  match(plain, /3 grace There is a user with this username or e-mail address/);
  match(plain, /5 bad name Username May only contain letters/);
  match(plain, /6 joan Row 3 has the same username or e-mail address/);
  match(plain, /7 alan2 Row 2 has the same username or e-mail address/);
  match(plain, /8 mary Groups Group not found: nowhere/);
  match(plain, /10 x Username .* E-mail /);
  const page = await submit({ rows, update: 'on' });
  const changing = words(page);
  match(changing, /New users 1 Users that change 1 Nothing to change 0 Refused rows 6/);
  match(changing, /3 grace Full name , Groups/);
  match(changing, /4 root-admin This is you/);
  match(changing, /Import 2 users/);
  match(page.body, /name="column.0"[\s\S]*?<option value="username" selected>/);
  match(
    page.body,
    /name="column.4"[^>]*><option value="">Not imported<\/option>(?:(?! selected)[\s\S])*?<\/select>/,
  );
  equal(await found('alan'), undefined);
  equal((await everyRow()).length, 0, 'nothing is stored');
  // Columns as they are chosen: the colour is the nickname now.
  const mapped = {
    'column.0': 'username',
    'column.1': '',
    'column.2': '',
    'column.3': '',
    'column.4': 'nickname',
  };
  match(words(await submit({ rows, ...mapped })), /New users 4/);
  const twice = await submit({ rows, ...mapped, 'column.1': 'nickname' });
  equal(twice.status, 400);
  match(words(twice), /Two columns are “Nickname”/);
  const none = await submit({ rows, ...mapped, 'column.0': '' });
  match(words(none), /Say which column is the username or the e-mail address/);
});

test('import of a table: carried out by the job, recorded, refused rows as CSV', async () => {
  const rows = [
    'username,email,name,groups,password_hash,note',
    'ada,ada@example.com,Ada,staff,,"two\nlines"',
    'grace,grace@example.com,Grace Hopper,staff,,',
    'grace2,grace@example.com,,,,"=cmd|\' /C calc\'!A0"',
    'weak,,,,no-hash,<script>alert(1)</script>',
  ].join('\n');
  const path = await begin(rows, { update: 'on' });
  match(words(await admin.get(path)), /The import is running .* 0 % 0 of 4 rows are done/);
  ok(
    (await everyRow()).every(({ value }) => !JSON.stringify(value).includes('ada@example.com')),
    'sealed',
  );
  const page = await carriedOut(path);
  match(words(page), /The import is done .* 100 % 4 of 4 rows/);
  match(words(page), /Users created 1 Users changed 1 Nothing to change 0 Refused rows 2/);
  deepEqual((await found('ada'))?.groups, ['staff']);
  deepEqual([(await found('grace'))?.name, (await found('grace'))?.groups], ['Grace Hopper', ['staff']]);
  const file = await admin.get(`${path}/refused`);
  match(file.headers.get('content-disposition') ?? '', /^attachment; filename="refused-users-[\d-]+\.csv"$/);
  const [head, first = '', second = ''] = file.body.split('\r\n');
  equal(head, 'row,username,email,name,groups,password_hash,note,reason');
  match(
    first,
    /^4,grace2,grace@example.com,,,,"'=cmd\|' \/C calc'!A0",Row 3 has the same username or e-mail address/,
  );
  match(second, /^5,weak,,,,,<script>alert\(1\)<\/script>,"password hash: /, 'the hash is not in it');
  const log = app.store.collection(audit);
  const done = { filters: [{ field: 'event', op: 'eq', value: 'users.imported' } as const] };
  const [event] = (await log.query({ ...done, sort: 'id', order: 'desc', limit: 1 })).items;
  deepEqual(event?.value.details, { created: 1, updated: 1, unchanged: 0, failed: 2 });
  // Again: it changes nothing.
  const again = await carriedOut(await begin(rows, { update: 'on' }));
  match(words(again), /Users created 0 Users changed 0 Nothing to change 2 Refused rows 2/);
});

test('import of a table: stopped between parts it says what is whole, and goes on where it was', async () => {
  const rows = ['username', ...Array.from({ length: 120 }, (_, at) => `many-${at}`)].join('\n');
  const path = await begin(rows);
  const stopped = await admin.post(`${path}/stop`, { csrf: await csrfOf(admin, path) });
  equal(stopped.status, 303);
  const page = await admin.get(path);
  match(words(page), /The import is stopped What is done is whole, and stays/);
  app.advance(3_000);
  await app.app.jobs.tick();
  equal(await found('many-0'), undefined, 'a stopped one is not carried out');
  equal((await admin.post(`${path}/continue`, { csrf: await csrfOf(admin, path) })).status, 303);
  const done = await carriedOut(path);
  match(words(done), /Users created 120 Users changed 0 Nothing to change 0 Refused rows 0/);
  ok(await found('many-119'));
  equal((await everyRow()).filter(({ id }) => path.includes(id.split('.')[0] ?? '')).length, 0);
});

/** An import before it is carried out, and how to make it so again: as a process leaves it that dies before it counted the users. */
async function asItIs(path: string) {
  const id = path.slice(path.lastIndexOf('/') + 1);
  const imports = app.store.collection(userImports);
  const parts = app.store.collection(userImportParts);
  const before = await imports.find(id);
  const part = (await everyRow()).find((one) => one.id.startsWith(`${id}.`));
  ok(before && part);
  return {
    parts,
    part,
    /** @param left the part that it left; default: as it was */
    async again(left = part) {
      await parts.put(left.id, left.value, { expiresAt: left.expiresAt });
      await imports.put(id, before.value, { expiresAt: before.expiresAt });
    },
  };
}

test('import of a table: a part that was interrupted is done again without a false refusal', async () => {
  const path = await begin('username\nonce-1\nonce-2');
  const began = await asItIs(path);
  await carriedOut(path);
  // As a process leaves it that dies after the users were written, and before they were counted.
  await began.again();
  match(words(await carriedOut(path)), /Users created 2 Users changed 0 Nothing to change 0 Refused rows 0/);
  const second = await begin('username\nonce-1\nonce-2');
  match(words(await carriedOut(second)), /Refused rows 2/, 'another import of the same users');
});

test('import of a table: a user whose process died early gets their groups and event', async () => {
  const path = await begin('username,groups\nhalf-1,staff;on-call\nhalf-2,staff');
  const began = await asItIs(path);
  await carriedOut(path);
  const log = app.store.collection(audit);
  const eventsOf = async (value: string) => {
    const event = { field: 'event', op: 'eq', value: 'user.created' } as const;
    const filters = [event, { field: 'target_id', op: 'eq', value } as const];
    return (await log.query({ filters, sort: 'id', order: 'asc', limit: 10 })).items;
  };
  const userId = String((await found('half-1'))?.id);
  for (const group of ['staff', 'on-call']) await app.admin('DELETE', `/groups/${group}/members/${userId}`);
  for (const event of await eventsOf(userId)) await log.remove(event.id);
  await began.again();
  match(words(await carriedOut(path)), /Users created 2 Users changed 0 Nothing to change 0 Refused rows 0/);
  deepEqual((await found('half-1'))?.groups, ['on-call', 'staff']);
  equal((await eventsOf(userId)).length, 1, 'recorded');
  equal((await eventsOf(String((await found('half-2'))?.id))).length, 1, 'once');
});

test('import of a table: cells stay in their columns, or the row is refused', async () => {
  const spaced = words(await submit({ rows: 'username,email,name\n"quo" , "quo@example.com" ,"Q"' }));
  match(spaced, /New users 1/);
  const after = await submit({ rows: 'username,name,nickname\n"a"b,c' });
  equal(after.status, 400);
  match(words(after), /Row 2 has text after a closing quote/);
  const more = words(await submit({ rows: 'username,name,nickname\nextra,Doe, Jane,jd\nplain,x,y,,' }));
  match(more, /New users 1 .*Refused rows 1/);
  match(more, /2 extra The row has more cells than there are columns/);
});

test('attack: an import by an auditor, unauthenticated, by a forged form, by an old sign-in', async () => {
  const auditor = await signedIn('ann');
  for (const path of [PATH, `${PATH}/x`]) equal((await auditor.get(path)).status, 403, path);
  const form = { rows: 'username\nmallory', step: 'import' };
  equal((await auditor.post(PATH, form)).status, 403);
  equal((await new Agent(app).post(PATH, form)).status, 303, 'to the sign-in');
  equal((await admin.post(PATH, form)).status, 403, 'without its token');
  const path = await begin('username\npeter');
  for (const act of ['stop', 'continue']) equal((await admin.post(`${path}/${act}`, {})).status, 403, act);
  await carriedOut(path);
  app.advance(3_600_000);
  const stale = await signedIn('other-admin');
  app.advance(15 * 60_000);
  const token = hiddenFields((await stale.get('/admin/users')).body).csrf ?? '';
  const late = await stale.post(PATH, { csrf: token, ...form });
  ok(late.status === 303 && !late.location?.includes('/import/csv/'), `${late.status} ${late.location}`);
  equal(await found('mallory'), undefined);
  admin = await signedIn('root-admin');
});

test('attack: an import of another administrator can be neither seen, stopped nor taken', async () => {
  const path = await begin('username,name\n"<img src=x onerror=alert(1)>",x');
  await carriedOut(path);
  const other = await signedIn('other-admin');
  const csrf = await csrfOf(other);
  for (const act of ['', '/progress', '/refused']) equal((await other.get(`${path}${act}`)).status, 404, act);
  for (const act of ['/stop', '/continue']) {
    const answer = await other.post(`${path}${act}`, { csrf });
    ok([403, 404].includes(answer.status), `${act}: ${answer.status}`);
  }
  ok(!(await other.get(PATH)).body.includes(path));
});

test('attack: a removed or demoted administrator’s import ends at once', async () => {
  const path = await begin('username\nlate-comer');
  const id = String((await found('root-admin'))?.id);
  await app.admin('PATCH', `/users/${id}`, { role: 'user' });
  app.advance(3_000);
  await app.app.jobs.tick();
  equal(await found('late-comer'), undefined);
  await app.admin('PATCH', `/users/${id}`, { role: 'admin' });
  admin = await signedIn('root-admin');
  match(words(await admin.get(path)), /The administrator who started it may no longer import users/);
});

test('attack: hostile tables: markup in names, endless lines, open quotes, not UTF-8', async () => {
  const hostile = await submit({ rows: 'username,name\n"<img src=x onerror=alert(1)>","<b>"' });
  ok(!hostile.body.includes('<img src=x'), 'escaped');
  match(hostile.body, /&lt;img src=x onerror/);
  const open = await submit({ rows: 'username\n"never closed' });
  equal(open.status, 400);
  match(words(open), /A quote is opened and never closed/);
  match(words(await submit({ rows: `username\n${','.repeat(200)}` })), /A row has at most 100 columns/);
  match(words(await submit({ rows: `username${','.repeat(2_000_000)}\nx` })), /A row has at most 100/);
  match(words(await submit({ rows: 'username' })), /at least one line with a user follows/);
  const began = performance.now();
  const long = await submit({
    rows: `username,name\nlong,${'a"'.repeat(500_000)}\nlong2,"${'""'.repeat(500_000)}"`,
  });
  match(words(long), /Refused rows 2/);
  match(words(long), /The row is too long/);
  const rows = `username\n${'a\n'.repeat(20_002)}`;
  match(words(await submit({ rows })), /at most 20000 rows/);
  ok(isWithin(performance.now() - began, 20_000), 'in time');
  const send = async (bytes: Uint8Array<ArrayBuffer>): Promise<Page> => {
    const form = new FormData();
    form.append('csrf', await csrfOf(admin));
    form.append('file', new Blob([bytes]), 'users.csv');
    return admin.request(PATH, { method: 'POST', body: form });
  };
  match(words(await send(Buffer.from('username\nzoë', 'latin1'))), /The file is not UTF-8/);
  match(words(await send(Buffer.from('\ufeffusername\nzoë'))), /New users 1/);
  equal((await send(Buffer.alloc(9 * 1024 * 1024, 'a'))).status, 413);
});

// Last: the other process has another address, and the Admin UI is registered with that one from then on.
test('import of a table: two processes at one part create and refuse nothing twice', async () => {
  const ids: string[] = [];
  let isHeld = false;
  const shared: Store = {
    ...app.store,
    collection<T>(definition: CollectionDefinition<T>): Collection<T> {
      const collection = app.store.collection(definition);
      if (definition.name !== 'accounts') return collection;
      return {
        ...collection,
        async insert(id, value, options) {
          ids.push(id);
          // It stands still for longer than its lease, while the other one does it all.
          if (!isHeld) {
            isHeld = true;
            await app.store.ephemeral(jobLeases).remove('import_users');
            app.advance(60_000);
            await app.app.jobs.tick();
            firstDone.resolve();
          } else await late.promise;
          return collection.insert(id, value, options);
        },
      };
    },
  };
  const firstDone = Promise.withResolvers<void>();
  const late = Promise.withResolvers<void>();
  const slow = await startApp({ shared, env: { SECRET_KEY } });
  try {
    const path = await begin('username\nboth-1\nboth-2\nboth-3');
    slow.advance(app.now() - slow.now() + 3_000);
    await app.store.ephemeral(jobLeases).remove('import_users');
    const running = slow.app.jobs.tick();
    await firstDone.promise;
    late.resolve();
    await running;
    equal(ids.length, 3, 'the slow one tried to create each');
    const page = words(await admin.get(path));
    match(page, /The import is done .* Users created 3 Users changed 0 Nothing to change 0 Refused rows 0/);
    equal((await everyRow()).filter(({ id }) => path.includes(id.split('.')[0] ?? '')).length, 0);
  } finally {
    await slow.stop();
  }
});

test('import of a table: changed before a crash is changed, not “already so”', async () => {
  await app.createUser('kept', { name: 'Kept' });
  const path = await begin('username,name,groups\ngrace,Grace B. Hopper,on-call\nkept,Kept,', {
    update: 'on',
  });
  const began = await asItIs(path);
  const { parts, part: first } = began;
  // As a process leaves it that dies after the users were changed, and before they were counted.
  const noted = Promise.withResolvers<typeof first>();
  const shared: Store = {
    ...app.store,
    async writeTogether(fill) {
      const now = await parts.find(first.id);
      if (now !== undefined && now.version !== first.version) noted.resolve(now);
      return app.store.writeTogether(fill);
    },
  };
  const other = await startApp({ shared, env: { SECRET_KEY } });
  try {
    other.advance(app.now() - other.now() + 3_000);
    await app.store.ephemeral(jobLeases).remove('import_users');
    await other.app.jobs.tick();
  } finally {
    await other.stop();
  }
  const dying = await noted.promise;
  ok(!JSON.stringify(dying.value).includes('grace'), 'sealed');
  equal((await found('grace'))?.name, 'Grace B. Hopper');
  await began.again(dying);
  await app.store.ephemeral(jobLeases).remove('import_users');
  match(words(await carriedOut(path)), /Users created 0 Users changed 1 Nothing to change 1 Refused rows 0/);
});

test('attack: a row without a username gives rights to who named another’s address', async () => {
  const email = 'ceo@example.com';
  const mallory = await app.createUser('mallory', { email });
  const squatter = await app.createUser('cfo@example.com', { email: 'cfo@example.com' });
  const rows = ['mail;role;groups;verified', `${email};admin;staff;yes`, 'cfo@example.com;admin;;'].join(
    '\n',
  );
  const preview = await submit({ rows, update: 'on' });
  match(words(preview), /The user mallory has not verified this e-mail address/);
  await carriedOut(await begin(rows, { update: 'on' }));
  for (const { id } of [mallory, squatter]) {
    const { data } = (await app.admin('GET', `/users/${id}`)).body;
    deepEqual([data.role, data.groups, data.is_email_verified], ['user', [], false]);
  }
  // By its username it is meant, and what gives no rights may change.
  const named = ['login;mail;role', `mallory;${email};auditor`].join('\n');
  await carriedOut(await begin(named, { update: 'on' }));
  await carriedOut(await begin(['mail;Full Name', 'cfo@example.com;Carla'].join('\n'), { update: 'on' }));
  equal((await app.admin('GET', `/users/${mallory.id}`)).body.data.role, 'auditor');
  equal((await app.admin('GET', `/users/${squatter.id}`)).body.data.name, 'Carla');
});
