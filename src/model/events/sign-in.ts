import type { EventRow } from './event-row.ts';

export const signInEvents = {
  // Complete, with all factors; by whichever way.
  'signin.success': {
    label: 'Signed in',
    sentence: '{actor} signed in[ to {client}].',
    class: 'general',
    activity: 'signin',
    counter: { result: 'success' },
  },
  'signin.failure': {
    label: 'Sign-in failed',
    sentence: 'A sign-in[ as {target}][ to {client}] failed.',
    class: 'general',
    activity: 'signin_failed',
    isProblem: true,
    counter: { result: 'failure', method: 'password' },
  },
  // The password matched, and a further step was asked for. No sign-in yet.
  'signin.password_accepted': {
    label: 'Password accepted, second step required',
    sentence: 'The password of {actor} was accepted; a second step was asked for.',
    class: 'general',
  },
  // A session that was there already, raised by another factor.
  'signin.stepped_up': {
    label: 'Second factor added to a session',
    sentence: '{actor} added a second factor to a session[ for {client}].',
    class: 'general',
    counter: { result: 'stepped_up' },
  },
  'signin.locked': {
    label: 'Account locked',
    sentence: 'Too many wrong passwords: the account[ of {target}] was locked.',
    class: 'general',
    activity: 'locked',
    isProblem: true,
    counter: { result: 'locked' },
  },
  'mfa.success': {
    label: 'Second factor verified',
    sentence: '{actor} passed the second step.',
    class: 'general',
  },
  'mfa.failure': {
    label: 'Second factor failed',
    sentence: 'The second step[ of {target}] failed.',
    class: 'general',
    activity: 'code_failed',
    isProblem: true,
    counter: { result: 'failure', method: 'second_factor' },
  },
  'mfa.enrolled': {
    label: 'Second factor added',
    sentence: '{actor} added a second factor.',
    class: 'general',
    activity: 'factor_on',
    notice: 'second_factor_added',
    noticeOfReplacement: 'second_factor_replaced',
  },
  'mfa.removed': {
    label: 'Second factor removed',
    sentence: '{actor} removed a second factor.',
    class: 'general',
    activity: 'factor_off',
    notice: 'second_factor_removed',
  },
  'mfa.reset': {
    label: 'Second factor reset',
    sentence: '{actor} reset the second factor[ of {target}].',
    class: 'general',
    activity: 'factor_reset',
  },
  'recovery.generated': {
    label: 'Recovery codes created',
    sentence: '{actor} created recovery codes.',
    class: 'general',
    activity: 'codes_made',
    notice: 'recovery_codes_replaced',
  },
  'recovery.used': {
    label: 'Recovery code used',
    sentence: '{actor} used a recovery code.',
    class: 'general',
    activity: 'code_used',
    notice: 'recovery_code_used',
  },
  'passkey.added': {
    label: 'Passkey added',
    sentence: '{actor} added a passkey.',
    class: 'general',
    activity: 'passkey_added',
    notice: 'passkey_added',
  },
  'passkey.used': {
    label: 'Passkey used',
    sentence: '{actor} used a passkey.',
    class: 'general',
  },
  'passkey.renamed': {
    label: 'Passkey renamed',
    sentence: '{actor} renamed a passkey.',
    class: 'general',
  },
  'passkey.removed': {
    label: 'Passkey removed',
    sentence: '{actor} removed a passkey[ of {target}].',
    class: 'general',
    activity: 'passkey_removed',
    notice: 'passkey_removed',
  },
  'passkey.failure': {
    label: 'Passkey refused',
    sentence: 'A passkey[ of {target}] was refused.',
    class: 'general',
    activity: 'passkey_failed',
    isProblem: true,
    counter: { result: 'failure', method: 'passkey' },
  },
  'device.trusted': {
    label: 'Browser trusted',
    sentence: '{actor} chose to trust a browser.',
    class: 'general',
    activity: 'device_trusted',
  },
  'device.revoked': {
    label: 'Browser no longer trusted',
    sentence: '{actor} ended the trust in a browser[ of {target}].',
    class: 'general',
    activity: 'device_forgotten',
  },
} as const satisfies Readonly<Record<string, EventRow>>;
