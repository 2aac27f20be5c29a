// Sample models of sign-up: the form in its states, the code for the address, an expired invitation.
import type { PageModels } from '../../../../views/index.ts';
import { csrf, interaction, noErrors, type Sample, sample, statesOf } from './sample.ts';

const fields = {
  username: 'required',
  email: 'required',
  given_name: 'optional',
  family_name: 'optional',
  nickname: 'hidden',
  phone_number: 'hidden',
} as const;
const questions = { fields, isPasswordAsked: true, minLength: 8 };
const asked = { ...fields, nickname: 'optional', phone_number: 'optional' } as const;
const terms = { termsUrl: 'https://acme.example/terms', privacyUrl: 'https://acme.example/privacy' };
const signInUrl = '/oauth2/login?interaction=Vb3qZk1x9rT0';

const form = {
  csrf,
  interaction,
  clientId: 'acme',
  clientName: 'Acme Analytics',
  questions,
  values: {},
  errors: noErrors,
  signInUrl,
} satisfies PageModels['signup'];

const code = {
  csrf,
  interaction,
  clientId: 'acme',
  email: 'ada.lovelace@acme.example',
  resendInSeconds: 42,
  canSkip: false,
  signupUrl: '/oauth2/signup?interaction=Vb3qZk1x9rT0',
} satisfies PageModels['signup-verify'];

export const signupSamples = {
  ...statesOf('signup', form, {
    'no-mail': { mailOff: true },
    full: {
      questions: { ...questions, fields: asked, terms },
      values: { username: 'ada.lovelace', email: 'ada.lovelace@acme.example' },
    },
    errors: {
      questions: { ...questions, fields: asked, terms },
      values: { username: 'ada', email: 'ada@mail.example', phone_number: '12' },
      errors: {
        email: 'invalid.email_domain',
        username: 'invalid.username_taken',
        password: 'Must have at least 8 characters.',
        confirm_password: 'invalid.password_mismatch',
        phone_number: 'Must be a telephone number such as +41 44 123 45 67.',
        accept_terms: 'invalid.terms',
      },
    },
    passkey: {
      questions: {
        ...questions,
        isPasswordAsked: false,
        fields: { ...fields, username: 'hidden', given_name: 'hidden', family_name: 'hidden' },
        terms: { termsUrl: '', privacyUrl: terms.privacyUrl },
      },
    },
    limited: { alert: 'alert.busy', retryAfterSeconds: 95 },
  }),
  'signup-invited': sample('signup', {
    csrf,
    token: 'mJ4yQ0vPq8kX2cT7bN5sL1wZ',
    questions: { ...questions, fields: { ...fields, email: 'hidden' } },
    invitedEmail: 'ada.lovelace@acme.example',
    values: {},
    errors: noErrors,
  }),
  ...statesOf('signup-verify', code, {
    again: { resendInSeconds: 0, canSkip: true, alert: 'alert.code_wrong' },
  }),
  ...statesOf(
    'enrolment',
    {
      csrf,
      token: 'mJ4yQ0vPq8kX2cT7bN5sL1wZ',
      username: 'ada.lovelace',
      email: 'ada.lovelace@acme.example',
      isPasswordAsked: true,
      minLength: 8,
      errors: { confirm_password: 'invalid.password_mismatch' },
    },
    { passkey: { isPasswordAsked: false, errors: noErrors } },
  ),
  'signup-done': sample('signup-done', {
    clientName: 'Acme Analytics',
    continueUrl: 'https://acme.example/login',
  }),
  'signup-done-plain': sample('signup-done', {}),
} as const satisfies Record<string, Sample>;
