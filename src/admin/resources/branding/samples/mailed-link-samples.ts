// Sample models of the pages for mailed links: requesting one, and opening one.
import { csrf, interaction, noErrors, type Sample, sample } from './sample.ts';

const token = 'mJ4yQ0vPq8kX2cT7bN5sL1wZ';

export const mailedLinkSamples = {
  'forgot-password': sample('forgot-password', { csrf, values: { email: '' }, interaction }),
  'forgot-password-limited': sample('forgot-password', {
    csrf,
    values: { email: 'ada.lovelace@acme.example' },
    alert: 'alert.rate_limited',
    retryAfterSeconds: 95,
  }),
  'forgot-password-link': sample('forgot-password', {
    csrf,
    values: { email: '' },
    interaction,
    action: 'magic_link',
  }),
  'forgot-password-no-mail': sample('forgot-password', {
    csrf,
    values: { email: '' },
    interaction,
    mailOff: true,
  }),
  'forgot-password-sent': sample('forgot-password-sent', { email: 'ada.lovelace@acme.example', interaction }),
  'forgot-password-sent-link': sample('forgot-password-sent', { interaction, action: 'magic_link' }),
  'forgot-password-sent-plain': sample('forgot-password-sent', {}),
  'forgot-password-sent-no-mail': sample('forgot-password-sent', { action: 'magic_link', mailOff: true }),
  'reset-password': sample('reset-password', {
    csrf,
    token,
    minLength: 8,
    errors: noErrors,
    username: 'ada.lovelace',
  }),
  'reset-password-errors': sample('reset-password', {
    csrf,
    token,
    minLength: 8,
    errors: {
      password: 'Must not contain the username. Must not be a simple repetition or sequence.',
      confirm_password: 'invalid.password_mismatch',
    },
  }),
  'reset-password-code': sample('reset-password', {
    csrf,
    token,
    minLength: 8,
    errors: noErrors,
    factor: 'code',
  }),
  'reset-done': sample('reset-done', { clientName: 'Acme Analytics', continueUrl: 'https://acme.example/' }),
  'reset-done-plain': sample('reset-done', {}),
  'verify-email': sample('verify-email', { csrf, token, email: 'ada.lovelace@acme.example' }),
  'verify-email-done': sample('verify-email-done', {}),
  'magic-link': sample('magic-link', { csrf, token }),
  'magic-link-elsewhere': sample('magic-link', { isElsewhere: true }),
  'link-expired': sample('link-expired', {}),
  'link-expired-new': sample('link-expired', {
    newLinkUrl: 'https://id.example/oauth2/forgot-password',
    isReset: true,
  }),
  'link-expired-address': sample('link-expired', { isAccount: true }),
  'link-expired-invitation': sample('link-expired', { isInvitation: true }),
  'link-expired-set-up': sample('link-expired', { isSetUp: true }),
  'link-waits': sample('link-expired', { isWaiting: true }),
  'link-needs-passkey': sample('link-expired', { needsPasskey: true }),
} as const satisfies Record<string, Sample>;
