// Our rules for client metadata (RFC 7591 §2), field by field.
import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { checkMetadata } from '../../src/clients/metadata-rules.ts';
import { memberRows } from '../../src/model/applications/rows.ts';

const good = { client_name: 'Acme', redirect_uris: ['https://app.example.com/callback'] };
const registrant = { kind: 'registrant' } as const;
const administrator = { kind: 'administrator' } as const;
const problemsOf = (members: object, authority: Parameters<typeof checkMetadata>[1] = registrant): string[] =>
  Object.keys(checkMetadata({ ...good, ...members }, authority).problems).sort();

test('client metadata: absent members get explicit defaults', () => {
  const { metadata, problems } = checkMetadata(good, registrant);
  deepEqual(problems, {});
  equal(metadata.scope, 'openid profile email phone address offline_access roles groups');
  deepEqual(metadata.grant_types, ['authorization_code', 'refresh_token']);
  deepEqual(metadata.response_types, ['code']);
  equal(metadata.token_endpoint_auth_method, 'client_secret_basic');
  equal(metadata.application_type, 'web');
  const machine = checkMetadata({ grant_types: ['client_credentials'] }, registrant);
  deepEqual([machine.problems, machine.metadata.response_types], [{}, []]);
});

test('client metadata: null is absent, unknown members are dropped, prototypes are safe', () => {
  const members: object = JSON.parse(
    '{"__proto__":{"isActive":false},"constructor":1,"colour":"red","logo_uri":null}',
  );
  const { metadata, problems } = checkMetadata({ ...good, ...members }, registrant);
  deepEqual(problems, {});
  for (const name of ['__proto__', 'constructor', 'colour', 'logo_uri'])
    ok(!Object.hasOwn(metadata, name), name);
});

test('client metadata: ids, secrets and times are set by the server only', () => {
  for (const name of [
    'client_id',
    'client_secret',
    'client_secret_expires_at',
    'client_id_issued_at',
    'registration_access_token',
    'registration_client_uri',
    'created_at',
  ]) {
    deepEqual(problemsOf({ [name]: 'x' }), [name]);
    deepEqual(problemsOf({ [name]: 'x' }, administrator), [name]);
  }
});

test('client metadata: administrator settings are not part of it', () => {
  for (const name of [
    'skip_consent',
    'is_active',
    'access_token_seconds',
    'allow_self_signup',
    'keycloak_tokens',
  ]) {
    deepEqual(problemsOf({ [name]: true }), [name]);
  }
});

test('client metadata: scope admin and the password grant need an administrator', () => {
  equal(checkMetadata({ ...good, scope: 'openid admin' }, registrant).metadata.scope, 'openid');
  deepEqual(problemsOf({ grant_types: ['authorization_code', 'password'] }), ['grant_types']);
  deepEqual(problemsOf({ scope: 'openid admin', grant_types: ['password'] }, administrator), []);
  const keeps = new Set(['admin']);
  deepEqual(problemsOf({ scope: 'openid admin' }, { kind: 'registrant', keeps }), []);
  deepEqual(problemsOf({ grant_types: ['password'] }, { kind: 'registrant', keeps }), ['grant_types']);
});

test('client metadata: a registrant’s unknown scopes are left out, never more remains', () => {
  const scopeOf = (scope: string, keeps: readonly string[] = []): unknown => {
    const { metadata, problems } = checkMetadata(
      { ...good, scope },
      { ...registrant, keeps: new Set(keeps) },
    );
    deepEqual(problems, {}, scope);
    return metadata.scope;
  };
  equal(scopeOf('openid mcp:tools profile'), 'openid profile');
  for (const none of ['mcp:tools', 'admin admin:read', 'https://api.example/read', ' ', 'constructor']) {
    equal(scopeOf(none), 'openid', none);
  }
  equal(scopeOf('openid admin admin:read', ['admin']), 'openid admin');
  deepEqual(problemsOf({ scope: 'openid mcp:tools' }, administrator), ['scope']);
});

test('client metadata: values outside their selection are refused', () => {
  const wrong: readonly (readonly [string, unknown])[] = [
    ['scope', 'openid root'],
    ['scope', 'openid\tadmin'],
    ['scope', 'x'.repeat(1001)],
    ['grant_types', ['implicit']],
    ['grant_types', ['urn:openid:params:grant-type:ciba']],
    ['grant_types', ['authorization_code ']],
    ['response_types', ['token']],
    ['response_types', ['none']],
    ['response_types', ['code id_token']],
    ['response_types', ['id_token']],
    ['application_type', 'service'],
    ['token_endpoint_auth_method', 'client_secret_jwt'],
    ['token_endpoint_auth_method', 'tls_client_auth'],
    ['token_endpoint_auth_method', 'constructor'],
    ['id_token_signed_response_alg', 'none'],
    ['id_token_signed_response_alg', 'HS256'],
    ['userinfo_signed_response_alg', 'HS512'],
    ['token_endpoint_auth_signing_alg', 'none'],
    ['token_endpoint_auth_signing_alg', 'HS256'],
    ['subject_type', 'pairwise'],
    ['default_max_age', -1],
    ['default_max_age', 1.5],
    ['contacts', Array.from({ length: 51 }, () => 'a@example.com')],
    ['redirect_uris', Array.from({ length: 51 }, (_, at) => `https://app.example.com/${at}`)],
    ['jwks', { keys: [{ kty: 'RSA', n: 'x', e: 'AQAB', d: 'private' }] }],
    ['jwks', { keys: [{ kty: 'oct', k: 'secret' }] }],
    ['jwks', { keys: Array.from({ length: 21 }, () => ({ kty: 'RSA' })) }],
    ['jwks', { keys: 'x' }],
  ];
  for (const [name, value] of wrong) {
    deepEqual(
      problemsOf({ [name]: value }, administrator),
      [name],
      `${name}: ${JSON.stringify(value).slice(0, 80)}`,
    );
  }
});

test('client metadata: a wrong JSON type is refused for every member', () => {
  for (const [name, { kind }] of Object.entries(memberRows)) {
    const type = String(kind.schema.type);
    const wrong: unknown[] = [{ $ne: 1 }, { $gt: '' }, [{ $regex: '.*' }], 5.5, [], true, 'x', [[]], [null]];
    const right: Readonly<Record<string, (value: unknown) => boolean>> = {
      string: (value) => typeof value === 'string',
      array: (value) => Array.isArray(value) && value.length === 0,
      boolean: (value) => typeof value === 'boolean',
      integer: () => false,
      object: (value) => typeof value === 'object' && !Array.isArray(value) && name !== 'jwks',
    };
    for (const value of wrong.filter((value) => right[type]?.(value) !== true)) {
      ok(problemsOf({ [name]: value }).includes(name), `${name}: ${JSON.stringify(value)}`);
    }
  }
});

test('client metadata: names are normalized, bounded and free of hidden characters', () => {
  equal(checkMetadata({ ...good, client_name: 'Cafe\u0301' }, registrant).metadata.client_name, 'Café');
  for (const name of [
    '',
    '   ',
    'x'.repeat(201),
    'a\nb',
    'a\u0000',
    'Acme\u202egro.elpmaxe',
    'a\u2028b',
    'a\u0085b',
  ]) {
    deepEqual(problemsOf({ client_name: name }), ['client_name'], JSON.stringify(name));
  }
  deepEqual(problemsOf({ client_name: '<img src=x onerror=alert(1)>' }), [], 'text is text: pages escape it');
  deepEqual(problemsOf({ client_name: '👩‍👩‍👧 株式会社'.padEnd(200, 'x') }), []);
});

test('client metadata: grants, response types and authentication must be consistent', () => {
  const { grant_types: _, ...rest } = { ...good, grant_types: [] };
  notEqual(
    checkMetadata({ ...rest, grant_types: ['client_credentials'], response_types: ['code'] }, registrant)
      .problems.response_types,
    undefined,
  );
  deepEqual(problemsOf({ grant_types: ['authorization_code'], response_types: [] }), ['response_types']);
  deepEqual(problemsOf({ grant_types: ['client_credentials'], token_endpoint_auth_method: 'none' }), [
    'grant_types',
  ]);
});
