// Sample models of the pages for mailed links: requesting one, and opening one.
import { csrf, interaction, noErrors, type Sample, sample, statesOf } from './sample.ts';

const token = 'mJ4yQ0vPq8kX2cT7bN5sL1wZ';

export const mailedLinkSamples = {
  ...statesOf(
    'forgot-password',
    { csrf, values: { email: '' }, interaction },
    {
      limited: {
        values: { email: 'ada.lovelace@acme.example' },
        interaction: undefined,
        alert: 'alert.rate_limited',
        retryAfterSeconds: 95,
      },
      link: { action: 'magic_link' },
      'no-mail': { mailOff: true },
    },
  ),
  'forgot-password-sent': sample('forgot-password-sent', { email: 'ada.lovelace@acme.example', interaction }),
  'forgot-password-sent-link': sample('forgot-password-sent', { interaction, action: 'magic_link' }),
  'forgot-password-sent-plain': sample('forgot-password-sent', {}),
  'forgot-password-sent-no-mail': sample('forgot-password-sent', { action: 'magic_link', mailOff: true }),
  ...statesOf(
    'reset-password',
    { csrf, token, minLength: 8, errors: noErrors },
    {
      '': { username: 'ada.lovelace' },
      errors: {
        errors: {
          password: 'Must not contain the username. Must not be a simple repetition or sequence.',
          confirm_password: 'invalid.password_mismatch',
        },
      },
      code: { factor: 'code' },
    },
  ),
  'reset-done': sample('reset-done', { clientName: 'Acme Analytics', continueUrl: 'https://acme.example/' }),
  'reset-done-plain': sample('reset-done', {}),
  'verify-email': sample('verify-email', { csrf, token, email: 'ada.lovelace@acme.example' }),
  'verify-email-done': sample('verify-email-done', {}),
  'magic-link': sample('magic-link', { csrf, token }),
  'magic-link-elsewhere': sample('magic-link', { isElsewhere: true }),
  ...statesOf(
    'link-expired',
    {},
    {
      new: { newLinkUrl: 'https://id.example/oauth2/forgot-password', isReset: true },
      address: { isAccount: true },
      invitation: { isInvitation: true },
      'set-up': { isSetUp: true },
    },
  ),
  'link-waits': sample('link-expired', { isWaiting: true }),
  'link-needs-passkey': sample('link-expired', { needsPasskey: true }),
} as const satisfies Record<string, Sample>;
