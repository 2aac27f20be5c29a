// The rules for applications that nobody vouched for (decision 0026), over random records: whatever one holds, its use sees no more
// than the rules allow.
import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { test } from 'node:test';
import {
  checkQuarantine,
  confined,
  confinedMembers,
  quarantineRules,
  statementOf,
} from '../../src/clients/quarantine.ts';
import { memberRows } from '../../src/model/applications/rows.ts';
import type { ClientRecord } from '../../src/store/collections.ts';

const words = [
  'openid',
  'profile',
  'roles',
  'groups',
  'admin',
  'admin:read',
  'https://api.example/read',
  'mcp:tools',
  'authorization_code',
  'refresh_token',
  'client_credentials',
  'password',
  'urn:ietf:params:oauth:grant-type:device_code',
  'implicit',
  'token',
  'private_key_jwt',
  'none',
  '',
];

/** Reproducible: mulberry32. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function createValues(seed: number) {
  const random = createRandom(seed);
  const one = <T>(of: readonly T[]): T | undefined => of[random(of.length)];
  const some = (): string[] => Array.from({ length: random(4) }, () => one(words) ?? '');
  const anything = (): unknown =>
    one([one(words), some(), some().join(' '), random(2) === 1, random(9), null, { keys: [] }]);
  const members = (): Record<string, unknown> =>
    Object.fromEntries(
      Object.keys(memberRows)
        .filter(() => random(2) === 1)
        .map((name) => [name, anything()]),
    );
  const record = (): ClientRecord => ({
    metadata: { ...members(), client_id: 'a' },
    secrets: some().map((digest) => ({ digest, createdAt: 0 })),
    clientType: random(2) === 1 ? 'public' : 'confidential',
    isActive: random(2) === 1,
    skipConsent: random(2) === 1,
    origin: random(2) === 1 ? 'registration' : 'admin',
    mayIntrospect: random(2) === 1,
    keycloakTokens: random(2) === 1,
    allowSelfSignup: random(2) === 1,
    approvedAddresses: some(),
    ...(random(2) === 1 && { profile: 'legacy' as const }),
    ...(random(2) === 1 && { legacyMetadata: { response_types: ['id_token'], request_uris: some() } }),
    quarantine: random(2) === 1 ? { by: 'registration' } : { by: 'document', usedAt: 1 },
    createdAt: 0,
    updatedAt: 0,
  });
  return { record, members };
}

const ROUNDS = 500;
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

test('quarantine: whatever a record holds, its use sees no more than the rules allow', () => {
  for (let seed = 0; seed < ROUNDS; seed += 1) {
    const given = createValues(seed).record();
    const seen = confined(given);
    const { metadata: shown } = seen;
    equal(shown.token_endpoint_auth_method, 'none');
    deepEqual([seen.clientType, seen.secrets, seen.skipConsent], ['public', [], false]);
    for (const grant of list(shown.grant_types))
      ok(grant === 'authorization_code' || grant === 'refresh_token', String(grant));
    deepEqual(shown.response_types, ['code']);
    ok(!/admin|roles|groups|api|mcp/.test(String(shown.scope)), String(shown.scope));
    ok(String(shown.scope) !== '');
    const called = ['jwks', 'jwks_uri', 'logo_uri', 'post_logout_redirect_uris', 'backchannel_logout_uri'];
    for (const name of [...called, 'initiate_login_uri', 'client_uri', 'policy_uri', 'tos_uri'])
      ok(!Object.hasOwn(shown, name), name);
    const rights = [seen.mayIntrospect, seen.keycloakTokens, seen.approvedAddresses];
    for (const right of [...rights, seen.profile, seen.legacyMetadata]) equal(right, undefined);
    equal(seen.accessTokenAudience, 'issuer');
    ok(seen.allowSelfSignup !== true);
    deepEqual(confined(seen), seen, 'nothing is left to confine');
    checkQuarantine(seen, seen);
    equal(confined(given, false).isActive, false);
  }
});

test('quarantine: wishes become what may be had; forbidden members stay, to be refused', () => {
  for (let seed = 0; seed < ROUNDS; seed += 1) {
    const wishes = confinedMembers({ ...createValues(seed).members(), client_id: 'mine', colour: 'red' });
    deepEqual([wishes.client_id, wishes.colour], ['mine', 'red']);
    for (const name of ['jwks', 'jwks_uri', 'logo_uri', 'contacts']) ok(!Object.hasOwn(wishes, name), name);
  }
});

test('quarantine: every rule refuses an administrator’s change that would leave it', () => {
  const base = confined({
    metadata: { client_id: 'a', client_name: 'A', redirect_uris: [] },
    secrets: [],
    clientType: 'public',
    isActive: true,
    skipConsent: false,
    origin: 'registration',
    quarantine: { by: 'registration' },
    createdAt: 0,
    updatedAt: 0,
  });
  checkQuarantine(base, base);
  const broken: Readonly<Record<string, ClientRecord>> = {
    client_type: { ...base, clientType: 'confidential' },
    skip_consent: { ...base, skipConsent: true },
    may_introspect: { ...base, mayIntrospect: true },
    keycloak_tokens: { ...base, keycloakTokens: true },
    allow_self_signup: { ...base, allowSelfSignup: true },
    profile: { ...base, profile: 'legacy' },
    authorization_signed_response_alg: { ...base, signedResponseAlg: 'ES256' },
    frontchannel_logout_uri: {
      ...base,
      legacyMetadata: { frontchannel_logout_uri: 'https://agent.example/' },
    },
    approved_addresses: { ...base, approvedAddresses: ['https://agent.example/jwks'] },
  };
  const values: Readonly<Record<string, unknown>> = {
    token_endpoint_auth_method: 'client_secret_basic',
    grant_types: ['authorization_code', 'client_credentials'],
    response_types: ['none'],
    scope: 'openid roles',
  };
  const { accessTokenAudience: __, ...ofClient } = base;
  throws(() => checkQuarantine(ofClient, base), { code: 'client.invalid_metadata' });
  for (const { name } of quarantineRules.filter((rule) => rule.name !== 'access_token_audience')) {
    const changed = broken[name] ?? {
      ...base,
      metadata: { ...base.metadata, [name]: values[name] ?? 'https://agent.example/' },
    };
    throws(() => checkQuarantine(changed, base), { code: 'client.invalid_metadata' }, name);
  }
});

test('statement digest: name, type and redirect URIs; none for trusted applications', () => {
  const base: ClientRecord = {
    metadata: {
      client_id: 'a',
      client_name: 'A',
      redirect_uris: ['https://a.example/1', 'https://a.example/2'],
    },
    secrets: [],
    clientType: 'public',
    isActive: true,
    skipConsent: false,
    origin: 'registration',
    quarantine: { by: 'registration' },
    createdAt: 0,
    updatedAt: 0,
  };
  const digest = statementOf(base);
  const said = (members: object) => statementOf({ ...base, metadata: { ...base.metadata, ...members } });
  equal(
    said({ redirect_uris: ['https://a.example/2', 'https://a.example/1'], software_version: '2' }),
    digest,
  );
  for (const members of [
    { client_name: 'B' },
    { redirect_uris: ['https://a.example/1'] },
    { application_type: 'native' },
  ])
    ok(said(members) !== digest, JSON.stringify(members));
  const { quarantine: _, ...vouched } = base;
  equal(statementOf(vouched), undefined);
});
