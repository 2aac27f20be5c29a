// Every row of an application (src/model/applications/) over HTTP and by the raw store, never by the walker: what one way in accepts,
// every way out has; and who may do it.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { legacyRows } from '../../src/model/applications/legacy.ts';
import type { ApplicationFact } from '../../src/model/applications/row.ts';
import { applicationRows, memberRows } from '../../src/model/applications/rows.ts';
import { settingRows } from '../../src/model/applications/settings.ts';
import { clients } from '../../src/store/collections.ts';
import { knownMembersOf } from '../../src/store/known-members.ts';
import { membersOf } from '../admin/answers.ts';
import { bearer, call, tokensOf } from '../flows/support.ts';
import { Agent, hiddenFields } from '../support/agent.ts';
import { apiDocument } from '../support/api-document.ts';
import { PASSWORD, REDIRECT_URI, startApp, type TestApp } from '../support/app.ts';

type Entry = readonly [name: string, row: ApplicationFact];
const entries = (rows: object): Entry[] => Object.entries<ApplicationFact>({ ...rows });
const settable = entries({ ...memberRows, ...settingRows });
const readOnly = entries(applicationRows).filter(([, { setBy }]) => setBy === 'server');

const ORIGIN = new URL(REDIRECT_URI).origin;

/** A value that is not what absence means; flags have the other one. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  client_name: 'Renamed',
  application_type: 'native',
  redirect_uris: [REDIRECT_URI, `${ORIGIN}/second`],
  post_logout_redirect_uris: [`${ORIGIN}/out`],
  grant_types: ['authorization_code'],
  response_types: ['code', 'code id_token'],
  response_modes: ['query'],
  scope: 'openid email',
  token_endpoint_auth_method: 'client_secret_post',
  token_endpoint_auth_signing_alg: 'RS256',
  jwks: { keys: [{ kty: 'EC', crv: 'P-256', x: 'AAAA', y: 'AAAA' }] },
  jwks_uri: `${ORIGIN}/keys`,
  id_token_signed_response_alg: 'ES256',
  userinfo_signed_response_alg: 'ES256',
  subject_type: 'public',
  default_max_age: 60,
  default_acr_values: ['urn:latchkey:acr:multi-factor'],
  backchannel_logout_uri: `${ORIGIN}/ended`,
  initiate_login_uri: `${ORIGIN}/start`,
  client_uri: `${ORIGIN}/home`,
  logo_uri: `${ORIGIN}/logo.png`,
  policy_uri: `${ORIGIN}/policy`,
  tos_uri: `${ORIGIN}/terms`,
  contacts: ['admin@example.com'],
  software_id: 'acme',
  software_version: '2.1',
  request_uris: [`${ORIGIN}/request.jwt`],
  request_object_signing_alg: 'PS256',
  frontchannel_logout_uri: `${ORIGIN}/frame`,
  default_resource: 'https://api.example.com/',
  required_acr: 'urn:latchkey:acr:email-code',
  max_auth_age: 600,
  access_token_seconds: 120,
  id_token_seconds: 180,
  refresh_token_seconds: 7200,
  access_token_audience: 'client_id',
  authorization_signed_response_alg: 'ES256',
  allowed_groups: ['staff'],
  web_origins: ['https://scripts.example.com'],
  profile: 'legacy',
  approved_addresses: [],
};
const sampleOf = ([name, { absent }]: Entry): unknown =>
  Object.hasOwn(SAMPLES, name) ? SAMPLES[name] : absent !== true;

/** What else has to be said with it. */
const BESIDE: Readonly<Record<string, object>> = {
  token_endpoint_auth_signing_alg: { token_endpoint_auth_method: 'private_key_jwt', jwks: SAMPLES.jwks },
  jwks: { token_endpoint_auth_method: 'private_key_jwt' },
  jwks_uri: { token_endpoint_auth_method: 'private_key_jwt' },
};
/** What goes with the legacy profile. */
const isOfProfile = (name: string): boolean => /^request_|^require_signed|^response_types$/.test(name);

let app: TestApp;
let admin: Agent;

before(async () => {
  app = await startApp();
  await app.admin('PATCH', '/settings', { legacy_profiles: true });
  await app.admin('POST', '/groups', { name: 'staff' });
  await app.admin('POST', '/resources', { identifier: 'https://api.example.com/', name: 'API' });
  await app.createUser('root-admin', { role: 'admin' });
  admin = new Agent(app);
  const page = await admin.follow(await admin.get('/admin'));
  equal((await admin.submit(page, { username: 'root-admin', password: PASSWORD })).status, 200);
});
after(() => app.stop());

const registered = (name: string) =>
  app.register({ ...(isOfProfile(name) && { profile: 'legacy' }), skip_consent: false });
const dataOf = async (id: string) => (await app.admin('GET', `/clients/${id}`)).body.data;
const storedOf = async (id: string, place: string): Promise<unknown> => {
  const record = (await app.store.collection(clients).find(id))?.value;
  return place
    .split('.')
    .reduce<unknown>((at, member) => (at === undefined ? at : membersOf(at)[member]), record);
};

for (const entry of settable) {
  const [name, row] = entry;
  test(`${name}: what PATCH accepts is stored, answered and in the event; null goes back`, async () => {
    const { id } = await registered(name);
    const value = sampleOf(entry);
    const before = (await dataOf(id))[name];
    const changed = await app.admin('PATCH', `/clients/${id}`, { ...BESIDE[name], [name]: value });
    equal(changed.status, 200, JSON.stringify(changed.body));
    deepEqual(changed.body.data[name], value);
    deepEqual((await dataOf(id))[name], value);
    const place = name === 'response_types' ? undefined : row.stored;
    if (place !== undefined && name !== 'approved_addresses')
      deepEqual(await storedOf(id, place), value === row.absent ? undefined : value);
    const { items = [] } = (await app.admin('GET', `/audit?event=client.updated&target_id=${id}&limit=1`))
      .body.data;
    const details = membersOf(items[0]?.details);
    ok(Array.isArray(details.fields) && details.fields.includes(name), JSON.stringify(details));
    const isOther = JSON.stringify(before) !== JSON.stringify(value);
    if (isOther) deepEqual(membersOf(details.after)[name], value);
    // An application without redirect URIs is none; response types are settled by the grant types.
    const isLasting = name === 'redirect_uris' || name === 'response_types';
    if ((row.absent !== null && row.absent !== undefined) || isLasting) return;
    const cleared = await app.admin('PATCH', `/clients/${id}`, {
      ...(BESIDE[name] && { token_endpoint_auth_method: 'client_secret_basic' }),
      [name]: null,
    });
    equal(cleared.status, 200, JSON.stringify(cleared.body));
    // The protocol core may fill in its default, which is the very value.
    if (row.absent === null) equal(cleared.body.data[name], null);
    else if (name !== 'subject_type') ok(JSON.stringify(cleared.body.data[name]) !== JSON.stringify(value));
  });
}

test('rows: everything is shown to administrators', () => {
  const hidden = entries(applicationRows).filter(([, { shownTo }]) => shownTo === 'nobody');
  deepEqual(hidden, []);
});

test('rows: what the server alone sets, and what no row knows, is refused', async () => {
  const { id } = await app.register();
  for (const [name] of [...readOnly, ['colour'] as const]) {
    const { status, body } = await app.admin('PATCH', `/clients/${id}`, { client_name: 'X', [name]: 'x' });
    deepEqual([status, Object.keys(body.error?.fields ?? {})], [400, [name]]);
  }
  equal((await dataOf(id)).client_name, 'Test application');
});

test('rows: an answer has each, those without a value apart', async () => {
  const { id } = await app.register();
  const data = await dataOf(id);
  for (const [name, { absent }] of entries(applicationRows))
    equal(absent === undefined || Object.hasOwn(data, name), true, name);
  for (const name of Object.keys(data)) ok(Object.hasOwn(applicationRows, name), name);
  equal(data.kind, 'openid');
});

test('rows: OpenAPI describes each, in the bodies that may have it and in the answer', () => {
  const operation = (path: string, method: string) =>
    membersOf(membersOf(membersOf(membersOf(apiDocument()).paths)[path])[method]);
  const jsonOf = (holder: unknown) =>
    membersOf(
      membersOf(membersOf(membersOf(membersOf(holder).content)['application/json']).schema).properties,
    );
  const bodies = [
    operation('/clients', 'post'),
    operation('/clients/{client_id}', 'put'),
    operation('/clients/{client_id}', 'patch'),
  ].map(({ requestBody }) => jsonOf(requestBody));
  const { responses } = operation('/clients/{client_id}', 'get');
  const shown = membersOf(membersOf(jsonOf(membersOf(responses)['200']).data).properties);
  for (const [name, { setBy, description }] of entries(applicationRows)) {
    equal(membersOf(shown[name]).description, description, name);
    const isGiven = setBy !== 'server';
    const has = bodies.map((body) => Object.hasOwn(body, name));
    deepEqual(has, [isGiven || name === 'client_type', isGiven, isGiven], name);
    if (isGiven) equal(membersOf(bodies[2]?.[name]).description, description, name);
  }
});

test('rows: the form has each of its fields with label and value, and no other', async () => {
  const { id } = await app.register({
    profile: 'legacy',
    ...Object.fromEntries(
      settable.filter(([, { form }]) => form !== null).map((one) => [one[0], sampleOf(one)]),
    ),
    require_pkce: false,
    web_origins: [],
  });
  const { body } = await admin.get(`/admin/applications/${id}`);
  const { fields = '' } = hiddenFields(body);
  deepEqual(
    fields.split(' ').sort(),
    settable
      .filter(([, { form }]) => form !== null)
      .map(([name]) => name)
      .sort(),
  );
  for (const [name, { form, label, kind }] of settable) {
    if (form === null) continue;
    ok(body.includes(label.replaceAll('’', '’')), label);
    const isDrawn = new RegExp(`name="${name}[".]`).test(body);
    ok(isDrawn, name);
    if (kind.control === 'check' && name !== 'require_pkce')
      match(body, new RegExp(`name="${name}" checked`));
  }
  const saved = await admin.post(`/admin/applications/${id}`, {
    ...hiddenFields(body),
    client_name: 'Saved',
  });
  equal(saved.status, 303, saved.body);
  const after = await dataOf(id);
  // A form without a value says that there is none.
  for (const name of ['skip_consent', 'minimal_id_tokens', 'keycloak_tokens', 'logout_needs_auth'])
    equal(after[name], false, name);
  // What the form does not have stays.
  equal(after.token_endpoint_auth_method, 'client_secret_basic');
});

test('attack: an administrator whose sign-in is old changes no row of an application', async () => {
  const program = await app.register({ scope: 'openid admin' });
  const { access_token: token } = await tokensOf(
    app,
    program,
    { username: 'root-admin' },
    { scope: 'openid admin' },
  );
  const { id } = await app.register();
  app.advance(301_000);
  for (const entry of settable) {
    const [name, { sensitivity }] = entry;
    equal(sensitivity, 'sensitive', name);
    const { status, body } = await call(app, 'PATCH', `/admin/api/clients/${id}`, {
      headers: { ...bearer(String(token)), 'content-type': 'application/json' },
      body: JSON.stringify({ [name]: sampleOf(entry) }),
    });
    deepEqual([status, membersOf(body.error).reason], [403, 'auth.stale'], name);
  }
});

test('rows: an auditor sees all of them and changes none', async () => {
  await app.createUser('auditor', { role: 'auditor' });
  const program = await app.register({ scope: 'openid admin:read' });
  const { access_token: token } = await tokensOf(
    app,
    program,
    { username: 'auditor' },
    { scope: 'openid admin:read' },
  );
  const { id } = await app.register();
  const headers = { ...bearer(String(token)), 'content-type': 'application/json' };
  const read = await call(app, 'GET', `/admin/api/clients/${id}`, { headers });
  deepEqual(read.body.data, await dataOf(id));
  const body = JSON.stringify({ client_name: 'Mine' });
  equal((await call(app, 'PATCH', `/admin/api/clients/${id}`, { headers, body })).status, 403);
});

test('rows: a registrant is shown and may give what its rows say, and no more', async () => {
  const { body } = await app.admin('POST', '/initial-access-tokens', { label: 'rows', uses: 1 });
  const send = (method: string, path: string, token: unknown, members?: object) =>
    call(app, method, path, {
      headers: { ...bearer(String(token)), 'content-type': 'application/json' },
      ...(members && { body: JSON.stringify(members) }),
    });
  const web = { client_name: 'Mine', redirect_uris: [REDIRECT_URI], colour: 'red' };
  const made = await send('POST', '/oauth2/register', body.data.token, web);
  equal(made.status, 201, made.text);
  const { client_id: id, registration_access_token: token } = made.body;
  const path = `/oauth2/register/${id}`;
  const shown = (await send('GET', path, token)).body;
  for (const name of Object.keys(shown)) {
    const row = entries(applicationRows).find(([one]) => one === name)?.[1];
    ok(row?.shownTo === 'everyone' || /^(?:registration_|client_id|client_secret)/.test(name), name);
  }
  for (const entry of settable) {
    const [name, { setBy }] = entry;
    // Others register for it, too: it is left out.
    if (name === 'authorization_signed_response_alg' || isOfProfile(name)) continue;
    // What needs no profile is for an administrator to enter.
    if (Object.hasOwn(legacyRows, name)) continue;
    const members = { ...web, client_id: id, ...BESIDE[name], [name]: sampleOf(entry) };
    const answer = await send('PUT', path, token, members);
    equal(answer.status, setBy === 'registrant' ? 200 : 400, `${name}: ${answer.text}`);
    if (setBy === 'registrant') deepEqual(answer.body[name], sampleOf(entry), name);
    else match(String(answer.body.error_description), new RegExp(`^${name}: Is for an administrator to set`));
    ok(!Object.hasOwn(answer.body, 'colour'));
  }
});

test('rows: the store knows the place of each, so that an older version beside drops none', () => {
  const known = membersOf(knownMembersOf('clients'));
  for (const [name, { stored }] of entries(applicationRows))
    ok(Object.hasOwn(known, stored.split('.')[0] ?? ''), name);
});
