// The table of grant types: what is registered with the library has a row, so that metrics and events can name it.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  adminGrantTypes,
  DEVICE_GRANT,
  defaultGrantTypes,
  grantLabels,
  grantOfWord,
  grantWords,
  isPagelessWord,
  legacyGrantTypes,
  openGrantTypes,
  signInGrantTypes,
  wordOfGrant,
} from '../../src/model/grant-types.ts';

test('grant types: who may have which, and by which users sign in', () => {
  deepEqual(openGrantTypes, ['authorization_code', 'refresh_token', 'client_credentials', DEVICE_GRANT]);
  deepEqual([adminGrantTypes, legacyGrantTypes], [['password'], ['implicit']]);
  deepEqual(defaultGrantTypes, ['authorization_code', 'refresh_token']);
  deepEqual(signInGrantTypes, ['authorization_code', DEVICE_GRANT, 'implicit']);
  deepEqual(grantWords.filter(isPagelessWord), ['device_code', 'password']);
  deepEqual(Object.keys(grantLabels).at(-1), 'client_credentials');
});

test('grant types: a word for each, and the way back', () => {
  equal(wordOfGrant(DEVICE_GRANT), 'device_code');
  equal(grantOfWord('device_code'), DEVICE_GRANT);
  for (const type of [...openGrantTypes, ...adminGrantTypes])
    equal(grantOfWord(wordOfGrant(type) ?? ''), type);
  // The token endpoint has no such grant type.
  deepEqual(['implicit', 'urn:example:new', 'toString'].map(wordOfGrant), [undefined, undefined, undefined]);
});

test('grant types: whatever is registered with the library has a row', () => {
  const root = new URL('../../src/oidc/', import.meta.url);
  const registered = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => [
      ...readFileSync(new URL(name, root), 'utf8').matchAll(
        /provider\.registerGrantType(?:<[^>]*>)?\(\s*([^,]+),/g,
      ),
    ])
    .map(([, type = '']) => type.trim());
  ok(registered.length > 0);
  for (const type of registered) ok(wordOfGrant(type.replaceAll("'", '')) !== undefined, type);
});
