// The account's protection rating and the advice of the account page.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type GlanceFacts, glanceOf } from '../../src/self-service/glance.ts';

const plain: GlanceFacts = {
  hasPassword: true,
  passkeyCount: 0,
  securityKeyCount: 0,
  hasApp: false,
  hasEmailCodes: false,
  codesLeft: 0,
  hasUnverifiedEmail: false,
  areCodesOff: false,
  arePasskeysOff: false,
};

test('protection: a password alone is weak, and a second step is advised first', () => {
  const { level, advice } = glanceOf({ ...plain, hasUnverifiedEmail: true });
  assert.equal(level, 'weak');
  assert.deepEqual(advice, ['app', 'passkey', 'verify_email']);
});

test('protection: a passkey beside a password is not enough, as the password still works', () => {
  const { level, advice } = glanceOf({ ...plain, passkeyCount: 1 });
  assert.equal(level, 'fair');
  assert.deepEqual(advice, ['app']);
});

test('protection: an app, a security key, or a passkey without a password is strong', () => {
  assert.equal(glanceOf({ ...plain, hasApp: true, codesLeft: 9 }).level, 'strong');
  assert.equal(glanceOf({ ...plain, securityKeyCount: 1 }).level, 'strong');
  const alone = glanceOf({ ...plain, hasPassword: false, passkeyCount: 1 });
  assert.equal(alone.level, 'strong');
  assert.deepEqual(alone.advice, ['second_passkey', 'recovery_codes']);
});

test('protection: recovery codes running out are reported in time', () => {
  const advice = (codesLeft: number) =>
    glanceOf({ ...plain, hasApp: true, codesLeft, passkeyCount: 2 }).advice;
  assert.deepEqual(advice(0), ['recovery_codes']);
  assert.deepEqual(advice(3), ['few_recovery_codes']);
  assert.deepEqual(advice(4), []);
});

test('protection: disabled methods neither count nor are advised', () => {
  const off = { ...plain, hasApp: true, hasEmailCodes: true, areCodesOff: true, arePasskeysOff: true };
  assert.deepEqual(glanceOf(off), { level: 'weak', advice: [] });
});
