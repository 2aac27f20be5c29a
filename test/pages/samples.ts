// Sample models of every page in its states, for page tests and screenshots.
import { accountSamples } from './account-samples.ts';
import { mailedLinkSamples } from './mailed-link-samples.ts';
import { passkeySamples } from './passkey-samples.ts';
import { csrf, interaction, noErrors, type Sample, sample } from './sample.ts';
import { secondStepSamples } from './second-step-samples.ts';
import { signupSamples } from './signup-samples.ts';

const logo =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 48 48'%3E%3Crect width='48' height='48' fill='%23fff'/%3E%3Cpath d='M24 8 40 38H8z' fill='%23e4572e'/%3E%3C/svg%3E";

const baseUrl = 'http://localhost:3000';

export const samples = {
  login: sample('login', {
    csrf,
    interaction,
    clientName: 'Acme Analytics',
    clientLogoUri: logo,
    values: { username: '' },
    canCancel: true,
  }),
  'login-choose': sample('login', {
    csrf,
    interaction,
    clientName: 'Acme Analytics',
    values: { username: '' },
    account: { username: 'ada.lovelace' },
    switchUrl: '/oauth2/authorize?prompt=login',
    canContinue: true,
    canCancel: true,
  }),
  'login-plain': sample('login', { csrf, interaction, values: { username: '' } }),
  'login-failed': sample('login', {
    csrf,
    interaction,
    clientName: 'Acme Analytics',
    values: { username: 'ada.lovelace@acme.example' },
    alert: 'alert.signin_failed',
    canCancel: true,
  }),
  'login-limited': sample('login', {
    csrf,
    interaction,
    clientName: 'Acme Analytics',
    values: { username: 'ada' },
    alert: 'alert.rate_limited',
    retryAfterSeconds: 95,
    canCancel: true,
  }),
  'login-known': sample('login', {
    csrf,
    interaction,
    clientName: 'Acme Analytics',
    values: { username: '' },
    account: { username: 'ada.lovelace' },
    switchUrl: '/oauth2/authorize?prompt=login',
    canCancel: true,
  }),
  'login-full': sample('login', {
    csrf,
    interaction,
    clientName: 'Acme Analytics',
    clientLogoUri: logo,
    values: { username: '' },
    canCancel: true,
    canReset: true,
    canMagicLink: true,
    signUpUrl: '/oauth2/signup?interaction=Vb3qZk1x9rT0',
    mode: 'password_and_passkey',
    canPasskey: true,
  }),
  ...accountSamples,
  ...passkeySamples,
  ...secondStepSamples,
  ...mailedLinkSamples,
  ...signupSamples,
  onboard: sample('onboard', { csrf, values: { username: '', email: '' }, errors: noErrors, minLength: 8 }),
  'onboard-errors': sample('onboard', {
    csrf,
    values: { username: 'ad', email: 'ada@' },
    errors: {
      username: 'invalid.username_length',
      email: 'invalid.email',
      password: { key: 'invalid.password_short', values: { count: 8 } },
      confirm_password: 'invalid.password_mismatch',
    },
    minLength: 8,
  }),
  consent: sample('consent', {
    csrf,
    interaction,
    client: {
      name: 'Acme Analytics',
      host: 'analytics.acme.example',
      logoUri: logo,
      policyUri: 'https://acme.example/privacy',
      tosUri: 'https://acme.example/terms',
      isFirstTime: true,
    },
    account: { username: 'ada.lovelace', email: 'ada.lovelace@acme.example' },
    scopes: [
      { name: 'openid', group: 'know' },
      { name: 'profile', group: 'know' },
      { name: 'email', group: 'know' },
      { name: 'offline_access', group: 'act' },
      { name: 'calendar:write', group: 'act' },
    ],
  }),
  'consent-agent': sample('consent', {
    csrf,
    interaction,
    client: {
      name: 'Notes agent',
      host: 'localhost:33418',
      isFirstTime: true,
      stranger: { address: 'agent.acme.example/client.json', isLocal: true, maxSeconds: 2_592_000 },
    },
    account: { username: 'ada' },
    scopes: [{ name: 'openid', group: 'know' }],
  }),
  'consent-all': sample('consent', {
    csrf,
    interaction,
    client: { name: 'Backoffice', isFirstTime: false },
    account: { username: 'ada' },
    scopes: [
      { name: 'admin', group: 'act' },
      { name: 'phone', group: 'know' },
      { name: 'address', group: 'know' },
      { name: 'roles', group: 'know' },
      { name: 'groups', group: 'know' },
    ],
  }),
  'error-redirect': sample('error', {
    status: 400,
    message: 'The redirect URI is not registered for this application.',
    reason: 'invalid_redirect_uri',
    details: [
      { label: 'detail.client_id', value: 'acme-analytics' },
      { label: 'detail.redirect_uri', value: 'https://analytics.acme.example/auth/callbck' },
      { label: 'detail.registered', value: 'https://analytics.acme.example/auth/callback' },
      { label: 'detail.register_at', value: `${baseUrl}/admin` },
    ],
    requestId: '01JX3M2W7Z0Q4',
  }),
  'error-server': sample('error', {
    status: 500,
    message: 'Something went wrong on our side.',
    reason: 'server.error',
    requestId: '01JX3M2W7Z0Q4',
    backUrl: 'https://acme.example/',
  }),
  'error-missing': sample('error', {
    status: 404,
    message: 'No resource exists at this address.',
    reason: 'request.not_found',
    requestId: '01JX3M2W7Z0Q4',
  }),
  expired: sample('expired', { clientName: 'Acme Analytics', restartUrl: 'https://acme.example/login' }),
  'expired-no-way': sample('expired', {}),
  'cookies-off': sample('cookies-off', { retryUrl: '/oauth2/authorize?client_id=acme' }),
  'signed-out': sample('signed-out', { clientName: 'Acme Analytics', continueUrl: 'https://acme.example/' }),
  'signed-out-plain': sample('signed-out', {}),
  'logout-confirm': sample('logout-confirm', {
    csrf,
    fields: [
      { name: 'client_id', value: 'acme' },
      { name: 'state', value: 'xyz' },
    ],
    account: { username: 'ada.lovelace' },
  }),
  device: sample('device', { action: '/oauth2/device', xsrf: csrf }),
  'device-failed': sample('device', {
    action: '/oauth2/device',
    xsrf: csrf,
    userCode: 'WDJB-MJHT',
    alert: 'alert.device_code_unknown',
  }),
  'device-confirm': sample('device-confirm', {
    action: '/oauth2/device',
    xsrf: csrf,
    userCode: 'WDJB-MJHT',
    client: { name: 'Acme TV' },
    scopes: ['openid', 'profile', 'email', 'offline_access'],
    address: '203.0.113.66',
    isElsewhere: true,
    startedAt: Date.UTC(2026, 4, 4, 12, 0),
    now: Date.UTC(2026, 4, 4, 12, 2),
    maxSeconds: 86_400,
  }),
  'device-done': sample('device-done', { client: { name: 'Acme TV' } }),
  continue: sample('continue', { action: '/landed', fields: [{ name: 'code', value: 'abc' }] }, [
    'https://acme.example/callback',
  ]),
} as const satisfies Record<string, Sample>;
