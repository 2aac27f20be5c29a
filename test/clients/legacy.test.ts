// What the members of the legacy profile are worth (decision 0026), whatever a stored record holds.
import { deepEqual, equal, ok } from 'node:assert/strict';
import test from 'node:test';
import { hasLegacyProfile, ordinaryMetadata, splitLegacy, withLegacy } from '../../src/clients/legacy.ts';
import type { ClientRecord } from '../../src/store/collections.ts';

const base: ClientRecord = {
  metadata: {
    client_id: 'a',
    application_type: 'web',
    redirect_uris: ['https://rp.example/cb'],
    response_types: ['code'],
    grant_types: ['authorization_code'],
    scope: 'openid',
  },
  legacyMetadata: {
    response_types: ['id_token token'],
    request_uris: ['https://rp.example/r.jwt'],
    frontchannel_logout_uri: 'https://rp.example/out',
  },
  profile: 'legacy',
  secrets: [],
  clientType: 'confidential',
  isActive: true,
  skipConsent: false,
  origin: 'admin',
  createdAt: 0,
  updatedAt: 0,
};
const metadataOf = (record: ClientRecord): Record<string, unknown> => withLegacy(record, true).metadata;

test('profile: counts with the setting, and leaves the record as it is without', () => {
  equal(withLegacy(base, false), base);
  const { response_types: types, grant_types: grants, ...others } = metadataOf(base);
  deepEqual(
    [types, grants],
    [
      ['code', 'id_token token'],
      ['authorization_code', 'implicit'],
    ],
  );
  equal(others.frontchannel_logout_uri, 'https://rp.example/out');
  deepEqual(
    ordinaryMetadata({ ...base.metadata, response_types: types, grant_types: grants }),
    base.metadata,
  );
});

test('profile: a stored one counts for nothing where it can never be had', () => {
  const never: readonly ClientRecord[] = [
    { ...base, metadata: { ...base.metadata, application_type: 'native' } },
    { ...base, metadata: { ...base.metadata, scope: 'openid admin:read' } },
    { ...base, quarantine: { by: 'registration' } },
    { ...base, origin: 'seed' },
  ];
  for (const record of never) {
    ok(!hasLegacyProfile(record));
    deepEqual(metadataOf(record), record.metadata);
  }
});

test('profile: what has become impossible counts for nothing, the rest goes on', () => {
  const plain = { ...base, metadata: { ...base.metadata, redirect_uris: ['http://127.0.0.1/cb'] } };
  const { response_types: types, request_uris: uris, frontchannel_logout_uri: out } = metadataOf(plain);
  deepEqual([types, uris, out], [['code'], ['https://rp.example/r.jwt'], undefined]);
  const { profile: _, ...without } = base;
  deepEqual(metadataOf(without), { ...base.metadata, frontchannel_logout_uri: 'https://rp.example/out' });
});

test('members: response types are taken apart in any order of words, others are not touched', () => {
  const given = {
    response_types: ['token id_token', 'code', 'none', 'id_token  code'],
    grant_types: ['implicit', 'authorization_code'],
    client_name: 'A',
  };
  const { metadata, legacy } = splitLegacy(given, { isOn: true, kind: 'registrant' });
  deepEqual(metadata, {
    response_types: ['code', 'none'],
    grant_types: ['authorization_code'],
    client_name: 'A',
  });
  deepEqual(legacy, { response_types: ['id_token token', 'code id_token'] });
  const off = splitLegacy(
    { ...given, request_uris: ['https://rp.example/r'] },
    { isOn: false, kind: 'registrant' },
  );
  deepEqual([off.metadata, off.legacy], [given, undefined]);
});
