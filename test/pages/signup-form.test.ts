// Passkey-only sign-up asks for, accepts and needs no password.
import { deepEqual, match, ok, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { readSignup } from '../../interactions/signup-form.ts';
import { createForm } from '../../src/http/form.ts';
import type { SignupQuestions } from '../../src/registration/index.ts';

const questions: SignupQuestions = {
  fields: {
    username: 'required',
    email: 'required',
    given_name: 'hidden',
    family_name: 'hidden',
    nickname: 'hidden',
    phone_number: 'hidden',
  },
  isPasswordAsked: false,
  minLength: 8,
};

test('passkey-only sign-up form: no password is read', () => {
  const { answers, errors } = readSignup(createForm('username=ada&email=ada%40example.com'), questions);
  deepEqual(errors, {});
  deepEqual(answers, { values: { username: 'ada', email: 'ada@example.com' }, password: undefined });
});

test('attack: a password sent to a passkey-only sign-up form', () => {
  for (const name of ['password', 'confirm_password']) {
    throws(
      () => readSignup(createForm(`username=ada&email=a%40b.c&${name}=correct+horse`), questions),
      (error: Error & { fields?: object }) => {
        match(error.message, /not valid/);
        ok(Object.hasOwn(error.fields ?? {}, name));
        return true;
      },
    );
  }
});
