// Every row of a user, by HTTP and by the raw store, never through the walker: what PATCH takes GET answers, forms show, OpenAPI
// describes, files carry, events name, claims tell; and who may change it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { apiRows } from '../../src/model/apis/rows.ts';
import { groupRows } from '../../src/model/groups/rows.ts';
import type { Row } from '../../src/model/row.ts';
import { addressRows } from '../../src/model/users/address-rows.ts';
import type { UserFacts } from '../../src/model/users/facts.ts';
import { importedRows } from '../../src/model/users/imported-rows.ts';
import { userRows } from '../../src/model/users/rows.ts';
import { accounts } from '../../src/store/collections.ts';
import { bearer, type Client, call, tokensOf, type User, userinfo } from '../flows/support.ts';
import { Agent, hiddenFields } from '../support/agent.ts';
import { ADMIN_TOKEN, PASSWORD, startApp, type TestApp } from '../support/app.ts';

type Members = Readonly<Record<string, unknown>>;
type UserRow = Row<unknown> & UserFacts;
type Table = Readonly<Record<string, UserRow>>;

const rows: Table = userRows;
/** Known to the rows and to nothing else: what every check has to find. */
const planted: Table = { ...rows, planted: userRows.nickname };

const namesOf = (table: Table, is: (row: UserRow, name: string) => boolean): string[] =>
  Object.entries(table).flatMap(([name, row]) => (is(row, name) ? [name] : []));
const isSet = ({ setBy }: UserRow): boolean => setBy !== 'server';
const isShown = ({ shownTo }: UserRow): boolean => shownTo !== 'nobody';
/** Owners add further addresses; administrators only take them away. */
const isGiven = (row: UserRow, name: string): boolean =>
  isSet(row) && isShown(row) && name !== 'other_emails';

const lines = Object.fromEntries(Object.entries(addressRows).map(([name, { example }]) => [name, example]));
/** What a new user has not, where the row's example does not say it. */
const said: Members = {
  role: 'auditor',
  is_active: false,
  is_email_verified: true,
  phone_number_verified: true,
  totp_verified: true,
  address: lines,
};
const saidOf = (name: string): unknown => said[name] ?? rows[name]?.example ?? 'x';

const membersOf = (value: unknown): Members => ({ ...Object(value) });
const missing = (names: readonly string[], from: Members): string[] =>
  names.filter((name) => !Object.hasOwn(from, name));

let app: TestApp;
let client: Client;
let admin: Agent;
let people = 0;

before(async () => {
  app = await startApp();
  const scope = 'openid profile email phone address roles groups account admin admin:read';
  client = await app.register({ scope });
  await app.createUser('root-admin', { role: 'admin' });
  admin = new Agent(app);
  const page = await admin.follow(await admin.get('/admin'));
  assert.equal((await admin.submit(page, { username: 'root-admin', password: PASSWORD })).status, 200);
  await app.admin('POST', '/groups', { name: 'staff' });
});
after(() => app.stop());

function newUser(fields: Members = {}): Promise<User> {
  people += 1;
  const email = `person-${people}@example.com`;
  return app.createUser(`person-${people}`, { email, phone_number: '+41 44 123 45 67', ...fields });
}

async function api(method: string, path: string, body: unknown, token = ADMIN_TOKEN) {
  const answer = await call(app, method, path, {
    headers: { ...bearer(token), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { data, error } = answer.body;
  return {
    ...answer,
    data: membersOf(data),
    error: membersOf(error),
    fields: membersOf(membersOf(error).fields),
  };
}
const read = async ({ id }: User): Promise<Members> => (await app.admin('GET', `/users/${id}`)).body.data;

/** As GET shows what was given. */
const shownAs = (name: string, value: unknown, { username }: User): unknown =>
  name === 'username' ? `${username}-2` : value;

/** With values that no other user has. */
const givenTo = (name: string, { username }: User): unknown =>
  name === 'username' ? `${username}-2` : name === 'email' ? `${username}@mail.example` : saidOf(name);

for (const name of namesOf(rows, isGiven)) {
  test(`user ${name}: taken, stored, answered, named by the event, cleared by null`, async () => {
    const user = await newUser();
    const value = givenTo(name, user);
    const changed = await api('PATCH', `/admin/api/users/${user.id}`, { [name]: value });
    assert.equal(changed.status, 200, changed.text);
    assert.deepEqual((await read(user))[name], shownAs(name, value, user));
    const stored = await app.store.collection(accounts).find(user.id);
    const place = rows[name]?.stored.split('.') ?? [];
    const kept = place.reduce<unknown>((holder, member) => membersOf(holder)[member], stored?.value);
    assert.deepEqual(kept, value);
    const { body } = await app.admin('GET', `/audit?event=user.updated&target_id=${user.id}`);
    const details = membersOf(body.data.items?.[0]?.details);
    assert.deepEqual(details.fields, [name]);
    if (rows[name]?.reported === 'value') assert.deepEqual(membersOf(details.after)[name], value);
    else
      assert.equal(JSON.stringify(details).includes(JSON.stringify(value)), false, 'its value is not told');
    if (rows[name]?.absent !== null) return;
    const cleared = await api('PATCH', `/admin/api/users/${user.id}`, { [name]: null });
    assert.deepEqual([cleared.status, cleared.data[name]], [200, null], cleared.text);
  });
}

test('user rows: what is neither shown nor exported is named here, so that nothing is by a slip', () => {
  assert.deepEqual(
    namesOf(rows, (row) => !isShown(row)),
    ['password'],
  );
  assert.deepEqual(
    namesOf(rows, ({ isExported }) => !isExported),
    ['password', 'stopped_email_change'],
  );
});

test('user rows: GET answers exactly what is shown, and the API’s document says so', async () => {
  const shown = await read(await newUser());
  assert.deepEqual(Object.keys(shown).sort(), namesOf(rows, isShown).sort());
  assert.deepEqual(missing(namesOf(planted, isShown), shown), ['planted']);
  const { body } = await call(app, 'GET', '/admin/api/openapi.json', { headers: bearer(ADMIN_TOKEN) });
  const patch = membersOf(membersOf(membersOf(body.paths)['/users/{id}']).patch);
  const schemaIn = (holder: unknown): Members =>
    membersOf(membersOf(membersOf(membersOf(holder).content)['application/json']).schema);
  const given = membersOf(schemaIn(patch.requestBody).properties);
  assert.deepEqual(Object.keys(given).sort(), namesOf(rows, isSet).sort());
  assert.deepEqual(missing(namesOf(planted, isSet), given), ['planted']);
  const answer = membersOf(membersOf(schemaIn(membersOf(patch.responses)['200']).properties).data);
  assert.deepEqual(missing(namesOf(rows, isShown), membersOf(answer.properties)), []);
  for (const [name, one] of Object.entries(given))
    assert.equal(membersOf(one).description, rows[name]?.description, name);
});

/** Pages that ask for one thing alone. */
const acts = { password: 'password', role: 'role', totp_verified: 'reset-mfa', is_active: 'deactivate' };

test('user rows: the form asks for each and takes it, or the page of the user has an act for it', async () => {
  const user = await newUser({ totp_verified: true });
  const asked = (table: Table) => namesOf(table, ({ asked: where }) => where === 'form');
  const fieldsOf = (table: Table): string[] =>
    asked(table).flatMap((name) =>
      name === 'address' ? Object.keys(addressRows).map((line) => `address.${line}`) : [name],
    );
  const path = `/admin/users/${user.id}/edit`;
  const page = await admin.get(path);
  const isIn = (name: string): boolean => page.body.includes(` name="${name}"`);
  assert.deepEqual(
    fieldsOf(planted).filter((name) => !isIn(name)),
    ['planted'],
  );
  const typed = fieldsOf(rows).map((name): [string, string] => {
    const value = name.startsWith('address.') ? lines[name.slice(8)] : givenTo(name, user);
    return [name, value === true ? 'on' : String(value)];
  });
  const saved = await admin.post(path, { ...hiddenFields(page.body), ...Object.fromEntries(typed) });
  assert.equal(saved.status, 303, saved.body);
  const after = await read(user);
  for (const name of asked(rows)) assert.deepEqual(after[name], givenTo(name, user), name);
  const again = (await admin.get(path)).body;
  for (const [name, value] of typed.filter(([, text]) => text !== 'on'))
    assert.ok(again.includes(value.replaceAll('&', '&amp;')), name);
  const own = (await admin.get(`/admin/users/${user.id}`)).body;
  assert.deepEqual(Object.keys(acts).sort(), namesOf(rows, ({ asked: where }) => where === 'act').sort());
  for (const act of Object.values(acts)) assert.ok(own.includes(`/admin/users/${user.id}/${act}"`), act);
});

test('user rows: the exported files have each, and the import takes them back', async () => {
  const user = await newUser();
  const given = namesOf(rows, (row, name) => isGiven(row, name) && name !== 'username' && name !== 'email');
  const changes = Object.fromEntries(given.map((name) => [name, saidOf(name)]));
  assert.equal((await api('PATCH', `/admin/api/users/${user.id}`, changes)).status, 200);
  await app.admin('POST', '/groups/staff/members', { user_id: user.id });
  const fileOf = async (format: string): Promise<string> =>
    (await admin.get(`/admin/users/export?format=${format}&username=${user.username}`)).body;
  const [header = '', line = ''] = (await fileOf('csv')).split('\r\n');
  const columns = Object.fromEntries(header.split(',').map((name) => [name, true]));
  const exported = (table: Table) => namesOf(table, ({ isExported }) => isExported);
  assert.deepEqual(missing(exported(planted), columns), ['planted']);
  for (const name of exported(rows).filter(
    (one) => typeof rows[one]?.example === 'string' && given.includes(one),
  ))
    assert.ok(line.includes(String(saidOf(name))), name);
  const item: Members = JSON.parse((await fileOf('jsonl')).split('\n')[0] ?? '');
  assert.deepEqual(missing(namesOf(planted, isShown), item), ['planted']);
  const carried = [...given, 'groups', 'created_at'];
  const row = {
    ...Object.fromEntries(carried.map((name) => [name, item[name]])),
    username: 'imported',
    email: 'i@example.com',
  };
  const answer = await call(app, 'POST', '/admin/api/users/import', {
    headers: { ...bearer(ADMIN_TOKEN), 'content-type': 'application/x-ndjson' },
    body: JSON.stringify(row),
  });
  assert.match(answer.text, /"status":"created"/, answer.text);
  const [found = {}] = (await app.admin('GET', '/users?username=imported')).body.data.items ?? [];
  for (const name of carried) assert.deepEqual(found[name], item[name], name);
  const unknown = await call(app, 'POST', '/admin/api/users/import', {
    headers: { ...bearer(ADMIN_TOKEN), 'content-type': 'application/x-ndjson' },
    body: JSON.stringify({ ...row, username: 'other', email: 'o@example.com', planted: 'x' }),
  });
  assert.match(unknown.text, /"planted":"Unknown field\."/);
});

test('user rows: a table of users is recognised column by column, and imported', async () => {
  const table: Table = { ...rows, ...importedRows };
  const names = namesOf(table, ({ column }) => column !== null).filter((name) => name !== 'password_hash');
  const cells = names.map((name) => {
    if (name === 'username') return 'tabled';
    if (name === 'email') return 'tabled@example.com';
    if (name === 'groups') return 'staff';
    if (name === 'created_at') return '2020-01-02T03:04:05Z';
    return saidOf(name) === true ? 'yes' : saidOf(name) === false ? 'no' : String(saidOf(name));
  });
  const path = '/admin/users/import/csv';
  const text = `${names.join(',')}\n${cells.map((cell) => `"${cell}"`).join(',')}`;
  const page = await admin.get(path);
  const begun = await admin.post(path, { ...hiddenFields(page.body), rows: text, step: 'import' });
  assert.equal(begun.status, 303, begun.body);
  app.advance(3_000);
  await app.app.jobs.tick();
  const [found = {}] = (await app.admin('GET', '/users?username=tabled')).body.data.items ?? [];
  for (const name of names.filter((one) => !['username', 'email', 'groups', 'created_at'].includes(one)))
    assert.deepEqual(found[name], saidOf(name), name);
  assert.deepEqual([found.groups, found.created_at], [['staff'], '2020-01-02T03:04:05.000Z']);
});

test('user rows: userinfo has the claim of each under its scope alone, and discovery lists it', async () => {
  const fields = namesOf(rows, (row, name) => isGiven(row, name) && row.claim !== null && name !== 'role');
  const user = await newUser();
  const changes = Object.fromEntries(
    fields.filter((name) => name !== 'username' && name !== 'email').map((name) => [name, saidOf(name)]),
  );
  const changed = await api('PATCH', `/admin/api/users/${user.id}`, changes);
  assert.equal(changed.status, 200, changed.text);
  await app.admin('POST', '/groups/staff/members', { user_id: user.id });
  const shown = await read(user);
  const scopes = new Set(Object.values(rows).flatMap(({ claim }) => (claim === null ? [] : [claim.scope])));
  const { body: metadata } = await call(app, 'GET', '/.well-known/openid-configuration');
  for (const scope of scopes) {
    const { access_token: token } = await tokensOf(app, client, user, {
      scope: scope === 'openid' ? 'openid' : `openid ${scope}`,
    });
    const claims = (await userinfo(app, String(token))).body;
    const under = (table: Table): Members =>
      Object.fromEntries(
        Object.entries(table).flatMap(([name, { claim }]) =>
          claim?.scope === scope || claim?.scope === 'openid'
            ? [[name === 'planted' ? name : claim.name, name]]
            : [],
        ),
      );
    assert.deepEqual(Object.keys(claims).sort(), Object.keys(under(rows)).sort(), scope);
    assert.deepEqual(missing(Object.keys(under(planted)), claims), scope === 'profile' ? ['planted'] : []);
    for (const [claim, name] of Object.entries(under(rows))) {
      const value = shown[String(name)];
      const told =
        claim === 'roles'
          ? [value]
          : claim === 'updated_at'
            ? Math.floor(Date.parse(String(value)) / 1000)
            : value;
      assert.deepEqual(claims[claim], told, claim);
      assert.ok(Array.isArray(metadata.claims_supported) && metadata.claims_supported.includes(claim), claim);
    }
  }
});

test('user rows: what is none is refused by name, and nothing else changes', async () => {
  const user = await newUser();
  const before = await read(user);
  const body = { given_name: 'Grace', planted: 'x', shoe_size: 44 };
  for (const method of ['PATCH', 'PUT']) {
    const answer = await api(method, `/admin/api/users/${user.id}`, body);
    assert.deepEqual([answer.status, Object.keys(answer.fields).sort()], [400, ['planted', 'shoe_size']]);
  }
  for (const name of namesOf(rows, (row) => !isSet(row) && isShown(row))) {
    const answer = await api('PATCH', `/admin/api/users/${user.id}`, { [name]: 'another' });
    assert.deepEqual([answer.status, Object.keys(answer.fields)], [400, [name]], answer.text);
  }
  assert.deepEqual(await read(user), before);
});

test('user rows: owners change exactly their own by the account API, and see them', async () => {
  await app.admin('PATCH', '/settings', { allow_username_change: true });
  for (const name of namesOf(rows, isSet)) {
    const user = await newUser();
    const { access_token: token } = await tokensOf(app, client, user, {
      scope: 'openid account',
      prompt: 'login',
    });
    const value = givenTo(name, user);
    const before = await read(user);
    const answer = await api('PATCH', '/account/api/profile', { [name]: value }, String(token));
    const isOwn = rows[name]?.setBy === 'owner';
    assert.equal(answer.status, isOwn ? 204 : 400, `${name}: ${answer.text}`);
    if (!isOwn) assert.deepEqual([Object.keys(answer.fields), await read(user)], [[name], before]);
    else {
      const own = await call(app, 'GET', '/account/api/profile', { headers: bearer(String(token)) });
      assert.deepEqual(membersOf(own.body.data)[name], value);
    }
  }
});

test('user rows: a stale administrator changes the plain ones alone, an auditor none', async () => {
  const tokenOf = async (username: string, scope: string): Promise<string> =>
    String((await tokensOf(app, client, { username }, { scope })).access_token);
  await app.createUser('auditor', { role: 'auditor' });
  const auditor = await tokenOf('auditor', 'openid admin:read');
  const stale = await tokenOf('root-admin', 'openid admin');
  const user = await newUser();
  const seen = await call(app, 'GET', `/admin/api/users/${user.id}`, { headers: bearer(auditor) });
  assert.deepEqual(membersOf(seen.body.data), await read(user));
  app.advance(301_000);
  for (const name of namesOf(rows, isSet)) {
    const body = { [name]: givenTo(name, user) };
    const refused = await api('PATCH', `/admin/api/users/${user.id}`, body, auditor);
    assert.deepEqual([refused.status, refused.error.reason], [403, 'auth.insufficient_scope'], name);
    const answer = await api('PATCH', `/admin/api/users/${user.id}`, body, stale);
    const isPlain = rows[name]?.sensitivity === 'plain';
    assert.equal(answer.status, isPlain ? 200 : 403, `${name}: ${answer.text}`);
    if (!isPlain) assert.equal(answer.error.reason, 'auth.stale', name);
  }
});

test('group rows: what PATCH takes is answered, asked by the form, described, and told', async () => {
  const { body } = await call(app, 'GET', '/admin/api/openapi.json', { headers: bearer(ADMIN_TOKEN) });
  const described = JSON.stringify(membersOf(body.paths)['/groups/{id}']);
  const edit = (await admin.get('/admin/groups/staff/edit')).body;
  const form = (await admin.get('/admin/groups/new')).body;
  assert.ok(form.includes(' name="name"'));
  const names = Object.entries(groupRows).flatMap(([name, { setBy }]) => (setBy === 'server' ? [] : [name]));
  for (const name of names) {
    const changed = await api('PATCH', '/admin/api/groups/staff', { [name]: `The ${name}` });
    assert.deepEqual([changed.status, changed.data[name]], [200, `The ${name}`], changed.text);
    assert.ok(edit.includes(` name="${name}"`) && form.includes(` name="${name}"`), name);
    assert.ok(described.includes(`"${name}":`), name);
    const { data } = (await app.admin('GET', '/audit?event=group.updated')).body;
    assert.deepEqual(membersOf(data.items?.[0]?.details).given, { [name]: `The ${name}` });
    const cleared = await api('PATCH', '/admin/api/groups/staff', { [name]: null });
    assert.deepEqual([cleared.status, cleared.data[name]], [200, null]);
  }
  const shown = (await app.admin('GET', '/groups/staff')).body.data;
  assert.deepEqual(Object.keys(shown).sort(), Object.keys(groupRows).sort());
  for (const [name, value] of [
    ['planted', 'x'],
    ['name', 'other'],
  ] as const) {
    const refused = await api('PATCH', '/admin/api/groups/staff', { [name]: value });
    assert.deepEqual([refused.status, Object.keys(refused.fields)], [400, [name]]);
  }
});

test('API rows: what PATCH takes is answered, told and described; PUT resets it', async () => {
  const scopes = [
    { name: 'orders:read', description: 'See orders', is_default: true, roles: ['admin'], groups: ['staff'] },
  ];
  const made = await api('POST', '/admin/api/resources', {
    identifier: 'https://api.example/orders',
    name: 'Orders',
    scopes,
  });
  assert.equal(made.status, 201, made.text);
  const path = `/admin/api/resources/${made.data.id}`;
  const { introspection_client_secret: _, ...fresh } = made.data;
  assert.deepEqual(Object.keys(fresh).sort(), Object.keys(apiRows).sort());
  const values: Members = {
    name: 'Sales',
    scopes: [
      ...scopes,
      { name: 'orders:write', description: 'Change orders', is_default: false, roles: [], groups: [] },
    ],
    clients: [client.id],
    is_open_to_agents: true,
    machine_grants: { [client.id]: ['orders:read'] },
    claims: ['groups', 'roles'],
    access_token_format: 'opaque',
    access_token_seconds: 60,
    required_acr: 'urn:latchkey:acr:multi-factor',
    max_auth_age: 600,
    require_dpop: true,
  };
  const names = Object.entries(apiRows).flatMap(([name, { setBy }]) => (setBy === 'server' ? [] : [name]));
  assert.deepEqual(Object.keys(values).sort(), names.sort());
  const { body } = await call(app, 'GET', '/admin/api/openapi.json', { headers: bearer(ADMIN_TOKEN) });
  const described = JSON.stringify(membersOf(body.paths)['/resources/{id}']);
  for (const [name, value] of Object.entries(values)) {
    const changed = await api('PATCH', path, { [name]: value });
    assert.deepEqual([changed.status, changed.data[name]], [200, value], changed.text);
    assert.ok(described.includes(`"${name}":`), name);
    const { data } = (await app.admin('GET', '/audit?event=api.updated')).body;
    assert.deepEqual(membersOf(data.items?.[0]?.details).given, { [name]: value });
  }
  for (const [name, value] of [
    ['planted', 'x'],
    ['identifier', 'urn:other'],
  ] as const) {
    const refused = await api('PATCH', path, { [name]: value });
    assert.deepEqual([refused.status, Object.keys(refused.fields)], [400, [name]]);
  }
  const reset = await api('PUT', path, { name: 'Orders', scopes });
  const { updated_at: _is, ...after } = reset.data;
  const { updated_at: _was, ...before } = fresh;
  assert.deepEqual(after, before, reset.text);
});
