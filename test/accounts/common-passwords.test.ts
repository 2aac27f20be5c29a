// The list of common passwords, and words that identify the service (R082).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCommonPassword } from '../../src/accounts/passwords/common-passwords.ts';
import { passwordProblems } from '../../src/accounts/passwords/password-rules.ts';
import { AppError } from '../../src/errors.ts';
import { fold } from '../../src/model/users/fold.ts';
import { createWorld, goodPassword, withEachStore } from './support.ts';

const contextWords = ['Latchkey', 'login.example-corp.com'];
const problems = (password: string, email?: string) =>
  passwordProblems(password, { minLength: 8, username: 'grace', email, contextWords });

test('attack: the most frequently guessed passwords in any spelling are refused', () => {
  const first = [
    'password',
    'PASSWORD',
    'Password1',
    'iloveyou',
    'sunshine',
    'football',
    'trustno1',
    'passw0rd',
  ];
  for (const password of [...first, 'ｐａｓｓｗｏｒｄ', 'qwerty123', 'princess', 'letmein1', 'superman']) {
    assert.match(problems(password).join(' '), /used most/, password);
  }
});

test('common passwords: the list is long enough and refuses nothing else', () => {
  assert.equal(isCommonPassword(fold('Baseball1')), true);
  assert.equal(isCommonPassword(fold(goodPassword)), false);
  for (const password of [
    goodPassword,
    'correct horse battery staple',
    'my password is long',
    '#a-b c/d(e)f=',
    'Zürich-Örlikon-7',
  ]) {
    assert.deepEqual(problems(password), [], password);
  }
});

test('attack: passwords built from the service name, its host or the mail provider', () => {
  for (const password of [
    'latchkey2026',
    'Latchkey!Latchkey!',
    'example-corp.1',
    'login-latchkey',
    'Corp-Login-77',
  ]) {
    assert.notDeepEqual(problems(password), [], password);
  }
  assert.notDeepEqual(problems('bigmail-2026', 'someone@bigmail.org'), []);
  assert.deepEqual(problems('bigmail-2026', 'someone@other.org'), []);
  // A sentence in which the word occurs says much more than the word.
  assert.deepEqual(problems('the latchkey hangs by the door'), []);
});

withEachStore('common passwords: refused at creation and at change, with the reason', async (backend) => {
  const { accounts } = createWorld(backend);
  const isTold = (error: unknown) =>
    error instanceof AppError &&
    error.code === 'request.invalid' &&
    /most/.test(error.fields?.password ?? '');
  await assert.rejects(accounts.create({ username: 'grace', password: 'sunshine' }), isTold);
  const { id } = await accounts.create({ username: 'grace', password: goodPassword });
  await assert.rejects(accounts.changeAccountAsAdmin(id, { password: 'Sunshine' }), isTold);
});
