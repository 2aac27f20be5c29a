// Sample models of every page in its states, for page tests and screenshots.
import { accountSamples } from './account-samples.ts';
import { mailedLinkSamples } from './mailed-link-samples.ts';
import { passkeySamples } from './passkey-samples.ts';
import { csrf, interaction, noErrors, type Sample, sample, statesOf } from './sample.ts';
import { secondStepSamples } from './second-step-samples.ts';
import { signupSamples } from './signup-samples.ts';

const baseUrl = 'http://localhost:3000';

const login = { csrf, interaction, clientName: 'Acme Analytics', values: { username: '' }, canCancel: true };
const account = { username: 'ada.lovelace', name: 'Ada Lovelace' };
const switchUrl = '/oauth2/authorize?prompt=login';
const signUpUrl = '/oauth2/signup?interaction=Vb3qZk1x9rT0';
const known = { account, isConfirming: true, switchUrl };
const withPasskey = { mode: 'password_and_passkey', canPasskey: true } as const;
const withMail = { canReset: true, canMagicLink: true };

export const samples = {
  ...statesOf('login', login, {
    choose: { account, switchUrl, canContinue: true },
    plain: { clientName: undefined, canCancel: undefined },
    failed: { values: { username: 'ada.lovelace@acme.example' }, alert: 'alert.signin_failed' },
    limited: { values: { username: 'ada' }, alert: 'alert.rate_limited', retryAfterSeconds: 95 },
    known,
    'known-passkey': { ...known, ...withPasskey, canReset: true, first: 'passkey' },
    'confirm-act': {
      ...known,
      ...withPasskey,
      clientName: 'Latchkey',
      confirming: { act: 'user_delete', name: 'Grace <b>Hopper</b>' },
      first: 'passkey',
    },
    people: {
      ...withPasskey,
      signUpUrl,
      people: [
        { username: 'ada.lovelace', name: 'Ada Lovelace', handle: 'a', url: '/oauth2/login?as=a' },
        { username: 'grace', handle: 'b', url: '/oauth2/login?as=b' },
        { username: 'm', name: 'محمد بن موسى الخوارزمي', handle: 'c', url: '/oauth2/login?as=c' },
      ],
      otherUrl: '/oauth2/login?as=other',
    },
    'passkey-first': { ...withPasskey, ...withMail, signUpUrl, first: 'passkey' },
    'link-first': { ...withPasskey, ...withMail, first: 'link' },
    full: { ...withPasskey, ...withMail, signUpUrl, canRemember: true },
  }),
  ...accountSamples,
  ...passkeySamples,
  ...secondStepSamples,
  ...mailedLinkSamples,
  ...signupSamples,
  ...statesOf(
    'onboard',
    { csrf, values: { username: '', email: '' }, errors: noErrors, minLength: 8 },
    {
      errors: {
        values: { username: 'ad', email: 'ada@' },
        errors: {
          username: 'Must have 3 to 64 characters.',
          email: 'Must be an e-mail address such as alice@example.com.',
          password: 'Must have at least 8 characters.',
          confirm_password: 'invalid.password_mismatch',
        },
      },
    },
  ),
  ...statesOf(
    'consent',
    {
      csrf,
      interaction,
      client: {
        name: 'Acme Analytics',
        host: 'analytics.acme.example',
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
    },
    {
      agent: {
        client: {
          name: 'Notes agent',
          host: 'localhost:33418',
          isFirstTime: true,
          stranger: { address: 'agent.acme.example/client.json', isLocal: true, maxSeconds: 2_592_000 },
        },
        account: { username: 'ada' },
        scopes: [{ name: 'openid', group: 'know' }],
      },
      confirm: {
        client: { name: 'Acme Desktop', host: 'localhost:33418', isFirstTime: false, isConfirming: true },
        account: { username: 'ada', name: 'Ada Lovelace' },
        scopes: [],
      },
      all: {
        client: { name: 'Backoffice', isFirstTime: false },
        account: { username: 'ada' },
        scopes: [
          { name: 'admin', group: 'act' },
          { name: 'phone', group: 'know' },
          { name: 'address', group: 'know' },
          { name: 'roles', group: 'know' },
          { name: 'groups', group: 'know' },
        ],
      },
    },
  ),
  'error-redirect': sample('error', {
    status: 400,
    message: { key: 'alert.redirect_uri_unregistered' },
    details: [
      { label: 'error', value: 'invalid_redirect_uri' },
      { label: { key: 'detail.redirect_uri' }, value: 'https://analytics.acme.example/auth/callbck' },
      { label: { key: 'detail.client_id' }, value: 'acme-analytics' },
      {
        label: { key: 'detail.register_at' },
        value: `${baseUrl}/admin/applications/acme-analytics`,
        href: `${baseUrl}/admin/applications`,
      },
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
  'signed-out-elsewhere': sample('signed-out', { isElsewhere: true }),
  'logout-confirm': sample('logout-confirm', {
    csrf,
    fields: [
      { name: 'client_id', value: 'acme' },
      { name: 'state', value: 'xyz' },
    ],
    account: { username: 'ada.lovelace' },
  }),
  ...statesOf(
    'device',
    { action: '/oauth2/device', xsrf: csrf },
    { failed: { userCode: 'WDJB-MJHT', alert: 'alert.device_code_unknown' } },
  ),
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
