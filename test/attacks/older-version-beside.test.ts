// Attack: going back a version and forward again, or running two at once, takes protections away in silence (decision 0041). An older
// version writes the documents of its own as it always has: what it doesn't know is not in them. Here that is done by hand on the
// store, since version 0.1.0 (905c62a) is not on every machine; with LONG=1 test/attacks/older-version-itself.test.ts runs it.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { after, test } from 'node:test';
import { secretDigest } from '../../src/ids.ts';
import { allCollections } from '../../src/store/all-collections.ts';
import * as model from '../../src/store/collections.ts';
import { knownMembersOf } from '../../src/store/known-members.ts';
import type { Store } from '../../src/store/port.ts';
import { update } from '../../src/store/update.ts';
import { createApi } from '../flows/api-support.ts';
import { postForm } from '../flows/support.ts';
import { Agent, codeRequest, hiddenFields } from '../support/agent.ts';
import { PASSWORD, SECRET_KEY, startApp, type TestApp } from '../support/app.ts';
import { television } from '../support/television.ts';

const app = await startApp({ env: { SECRET_KEY } });
const { store } = app;
after(() => app.stop());

const settingIn = async (of: TestApp, key: string): Promise<Record<string, unknown> | undefined> =>
  (await of.admin('GET', '/settings')).body.data.items?.find((one) => one.key === key);

/** Another process of this version, started now on the same store. */
async function restarted<R>(on: Store, act: (again: TestApp) => Promise<R>): Promise<R> {
  const again = await startApp({ shared: on });
  try {
    return await act(again);
  } finally {
    await again.stop();
  }
}

/** As 905c62a writes any setting: a value that is its default is not stored, and the record has three members. */
const writtenBy905c62a = (on: Store, key: string, value: unknown): Promise<unknown> =>
  update(on.collection(model.settings), 'current', ({ values }) => {
    const { require_pkce: pkce, ...others } = values;
    const isFalse = typeof pkce === 'object' && pkce !== null && 'value' in pkce && pkce.value === false;
    const next = { ...others, ...(isFalse && { require_pkce: pkce }), [key]: { value, at: 1, by: 'old' } };
    return { value: { values: next, updatedAt: Date.now(), updatedBy: 'old' } };
  });

test('attack: an older version writes any setting, and a default that changed since is off', async () => {
  equal((await app.admin('PATCH', '/settings', { require_pkce: true })).status, 200);
  await writtenBy905c62a(store, 'product_name', 'Acme');
  await restarted(store, async (again) => {
    const seen = await settingIn(again, 'require_pkce');
    deepEqual([seen?.value, seen?.default], [true, false]);
    equal((await again.admin('PATCH', '/settings', { product_name: 'Acme 2' })).status, 200);
    equal((await settingIn(again, 'require_pkce'))?.value, true);
  });
  // What an administrator turned off stays off beside the older version, whose default is on.
  await restarted(store, (again) => again.admin('PATCH', '/settings', { require_pkce: false }));
  await writtenBy905c62a(store, 'product_name', 'Acme 3');
  await restarted(store, async (again) => equal((await settingIn(again, 'require_pkce'))?.value, false));
});

test('attack: an older installation, whose older version writes settings', async () => {
  const old = await startApp({ env: { SECRET_KEY } });
  try {
    // The store of an older version has a signing key and no mark.
    await old.store.collection(model.facts).remove('model');
    await old.store.collection(model.settings).remove('current');
    await restarted(old.store, async (again) => {
      const seen = await settingIn(again, 'require_pkce');
      deepEqual([seen?.value, seen?.default], [true, true]);
      // Nobody could delete their own account there, and no upgrade decides that they can.
      const deletion = await settingIn(again, 'allow_account_deletion');
      deepEqual([deletion?.value, deletion?.default], [false, false]);
    });
    await writtenBy905c62a(old.store, 'product_name', 'Acme');
    await restarted(old.store, async (again) => {
      equal((await settingIn(again, 'require_pkce'))?.value, true);
      equal((await settingIn(again, 'allow_account_deletion'))?.value, false);
      await again.admin('PATCH', '/settings', { allow_account_deletion: true });
      equal((await settingIn(again, 'allow_account_deletion'))?.value, true);
      await again.admin('PATCH', '/settings', { product_name: 'Acme 2' });
      await again.admin('PUT', '/settings', { product_name: 'Acme 3' });
      equal((await settingIn(again, 'require_pkce'))?.value, true);
    });
  } finally {
    await old.stop();
  }
});

test('settings of a newer version: PATCH and PUT leave them as they were read', async () => {
  const entry = { value: 'strict', at: 1, by: 'later' };
  await update(store.collection(model.settings), 'current', (record) => ({
    value: { ...record, values: { ...record.values, of_a_later_version: entry }, later: [1] },
  }));
  await restarted(store, async (again) => {
    await again.admin('PATCH', '/settings', { product_name: 'One' });
    await again.admin('PUT', '/settings', { product_name: 'Two' });
  });
  const stored = await store.collection(model.settings).find('current');
  deepEqual(stored?.value.values.of_a_later_version, entry);
  ok(Object.hasOwn(stored?.value ?? {}, 'later'));
});

const LATER = { is: 'of a later version' };

/** Adds a member that no present version knows to a document, or to what it holds there: an object, or each of a list. */
async function addLater(
  id: string,
  definition: (typeof allCollections)[number],
  inside?: string,
): Promise<void> {
  await update(store.collection(definition), id, (value) => {
    const held: unknown = inside === undefined ? value : Reflect.get(Object(value), inside);
    ok(typeof held === 'object' && held !== null, inside);
    for (const one of Array.isArray(held) ? held : [held]) Object.assign(one, { later: LATER });
    return { value };
  });
}

const collectionOf = (name: string): (typeof allCollections)[number] => {
  const found = allCollections.find((one) => one.name === name);
  ok(found, name);
  return found;
};

const countLater = async (name: string, id: string): Promise<number> =>
  JSON.stringify((await store.collection(collectionOf(name)).find(id))?.value).split('of a later version')
    .length - 1;

test('attack: an older version edits an application, and the newer one’s members are gone', async () => {
  const { id } = await app.register({ scope: 'openid email', allowed_groups: null });
  await addLater(id, collectionOf('clients'));
  await addLater(id, collectionOf('clients'), 'metadata');
  await addLater(id, collectionOf('clients'), 'secrets');
  equal(await countLater('clients', id), 3);
  const path = `/clients/${id}`;
  for (const [method, more, body] of [
    ['PATCH', '', { client_name: 'Renamed' }],
    ['PATCH', '', { redirect_uris: ['https://rp.example/other'], access_token_seconds: 60 }],
    ['POST', '/rotate-secret', { overlap_seconds: 3600 }],
    ['PATCH', '', { is_active: false }],
    ['PATCH', '', { is_active: true, dpop_bound_access_tokens: true }],
  ] as const) {
    const { status, body: answer } = await app.admin(method, `${path}${more}`, body);
    equal(status, 200, JSON.stringify(answer));
    equal(await countLater('clients', id), 3, `${method} ${more}`);
  }
  const shown = (await app.admin('GET', path)).body.data;
  ok(!JSON.stringify(shown).includes('later'), 'what is not known is not shown');
});

test('members of a newer version survive each way to write a user, an API and a group', async () => {
  const user = await app.createUser('dora', {
    email: 'dora@example.com',
    is_email_verified: true,
    given_name: 'Dora',
  });
  const other = { address: 'd@example.com', key: 'd@example.com', verifiedAt: 1 };
  await update(store.collection(model.accounts), user.id, (value) => ({
    value: { ...value, otherEmails: [other], address: { region: 'Here' } },
  }));
  for (const path of [undefined, 'profile', 'address', 'otherEmails'])
    await addLater(user.id, collectionOf('accounts'), path);
  const client = await app.register({ scope: 'openid' });
  const browser = new Agent(app);
  const page = await browser.authorize(codeRequest(client.id));
  await browser.submit(page, { username: 'dora', password: PASSWORD });
  equal(await countLater('accounts', user.id), 4, 'a sign-in');
  for (const [method, path, body] of [
    ['PATCH', '', { given_name: 'Theodora', address: { region: 'There' } }],
    ['PATCH', '', { password: 'another horse battery staple' }],
    ['POST', '/deactivate', undefined],
    ['POST', '/reactivate', undefined],
    ['POST', '/unlock', undefined],
    ['POST', '/reset-mfa', undefined],
  ] as const) {
    equal((await app.admin(method, `/users/${user.id}${path}`, body)).status, 200, path);
    equal(await countLater('accounts', user.id), 4, `${method} ${path}`);
  }

  const api = await createApi(app);
  for (const path of [undefined, 'scopes', 'secrets']) await addLater(api.id, collectionOf('apis'), path);
  equal(await countLater('apis', api.id), 4);
  const scopes = [
    { name: 'read', description: 'Read' },
    { name: 'write', description: 'Write', groups: [] },
  ];
  await api.patch({ scopes, require_dpop: true });
  equal(await countLater('apis', api.id), 4);
  const { data } = (await app.admin('GET', `/resources/${api.id}`)).body;
  equal(
    (await app.admin('PUT', `/resources/${api.id}`, { identifier: data.identifier, name: 'Put', scopes }))
      .status,
    200,
  );
  equal(await countLater('apis', api.id), 4, 'PUT');

  equal((await app.admin('POST', '/groups', { name: 'staff' })).status, 201);
  await addLater('staff', collectionOf('groups'));
  equal((await app.admin('PATCH', '/groups/staff', { display_name: 'Staff' })).status, 200);
  equal(await countLater('groups', 'staff'), 1);
});

test('attack: a session that a newer version has bound is unbound by an older one', async () => {
  const user = await app.createUser('erin');
  const [one, two] = [await app.register({ scope: 'openid' }), await app.register({ scope: 'openid' })];
  const browser = new Agent(app);
  const page = await browser.authorize(codeRequest(one.id));
  await browser.submit(page, { username: 'erin', password: PASSWORD });
  const raw = store.ephemeral(collectionOf('oidc_sessions'));
  const sessionOf = async () => (await raw.findBy('account', user.id))[0];
  const session = await sessionOf();
  ok(session);
  await update(raw, session.id, (value) => ({ value: Object.assign(value, { later: LATER }) }));
  await browser.authorize(codeRequest(two.id));
  ok(JSON.stringify(await sessionOf()).includes(two.id), 'it was written');
  ok(JSON.stringify(await sessionOf()).includes('of a later version'));
});

test('attack: a sign-in and a device code that a newer version restricted, gone on with here', async () => {
  const frank = await app.createUser('frank');
  const marked = async (name: string, id: string) => {
    const raw = store.ephemeral(collectionOf(name));
    ok(await update(raw, id, (value) => ({ value: Object.assign(value, { later: LATER }) })), name);
    return async (written: string) => {
      const now = JSON.stringify(await raw.find(id));
      ok(now.includes(written), `${name} was written`);
      ok(now.includes('of a later version'), name);
    };
  };
  await app.admin('PATCH', '/settings', { mfa_mode: 'required' });
  const agent = new Agent(app);
  const page = await agent.authorize(codeRequest((await app.register()).id));
  const signIn = await marked('interactions', secretDigest(hiddenFields(page.body).interaction ?? ''));
  await agent.submit(page, { username: 'frank', password: PASSWORD });
  await signIn(frank.id);
  await app.admin('PATCH', '/settings', { mfa_mode: 'optional' });

  const { id: client_id } = await app.register(television);
  const { body } = await postForm(app, '/oauth2/device_authorization', { client_id, scope: 'openid' });
  const code = await marked('device_codes', secretDigest(String(body.device_code)));
  const browser = new Agent(app);
  const asked = await browser.submit(await browser.get('/oauth2/device'), {
    user_code: String(body.user_code),
  });
  const login = await browser.submit(asked, { confirm: 'yes' });
  await browser.submit(login, { username: 'frank', password: PASSWORD });
  await code(frank.id);
});

test('stores: every durable collection that is written again is known by its members', () => {
  // Their documents are added and removed, counted, or sealed anew as a whole; those of the protocol core are the models'.
  const whole = new Set([
    'email_changes',
    'links',
    'avatars',
    'user_import_parts',
    'mail_requests',
    'audit',
    'event_hours',
    'token_events',
    'idempotency_keys',
    'grants',
    'refresh_tokens',
    'replay_markers',
    'look_versions',
    'pictures',
    'facts',
  ]);
  const durable = allCollections.filter(({ durability }) => durability === 'durable').map(({ name }) => name);
  deepEqual(
    durable.filter((name) => knownMembersOf(name) === undefined && !whole.has(name)),
    [],
  );
});

test('attack: a version that is too old for the store starts on it', async () => {
  const later = await startApp({ env: { SECRET_KEY } });
  try {
    const facts = later.store.collection(collectionOf('facts'));
    await update(facts, 'model', (mark) => ({
      value: Object.assign(mark, { model: 9, oldestWriter: 8, version: '9.0.0', later: LATER }),
    }));
    await rejects(startApp({ shared: later.store }), (error: Error) => {
      match(error.message, /version 9\.0\.0/);
      match(error.message, /Start version 9\.0\.0 or a later one; nothing was changed/);
      return true;
    });
    // Newer, and writing beside it is allowed: what the newer version says of itself stays.
    await update(facts, 'model', (mark) => ({ value: Object.assign(mark, { oldestWriter: 1 }) }));
    await restarted(later.store, async (again) => equal((await again.admin('GET', '/users')).status, 200));
    const mark = (await facts.find('model'))?.value;
    match(JSON.stringify(mark), /"model":9,.*"version":"test".*of a later version/);
  } finally {
    await later.stop();
  }
});
