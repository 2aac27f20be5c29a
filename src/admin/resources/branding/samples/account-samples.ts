// Sample models of the self-service pages.
import { toQrDataUri } from '../../../../second-factors/index.ts';
import type { PageModels } from '../../../../views/index.ts';
import { home } from './account-home.ts';
import { notMeSamples } from './not-me-samples.ts';
import { csrf, noErrors, type Sample, sample, statesOf } from './sample.ts';
import { recoveryCodes } from './second-step-samples.ts';

const now = Date.UTC(2026, 10, 21, 14, 30);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const account = { username: 'ada.lovelace' };
const otpauthUri =
  'otpauth://totp/Latchkey:ada.lovelace?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Latchkey';

const profile = {
  csrf,
  account: { username: 'ada.lovelace', name: 'Ada Lovelace' },
  values: {
    username: 'ada.lovelace',
    given_name: 'Ada',
    family_name: 'Lovelace',
    name: '',
    nickname: 'Countess',
    locale: 'de',
    zoneinfo: 'Europe/London',
  },
  fields: [
    { key: 'given_name' },
    { key: 'family_name' },
    { key: 'name' },
    { key: 'nickname' },
    {
      key: 'locale',
      options: [
        { value: 'en', label: 'English' },
        { value: 'de', label: 'Deutsch' },
        { value: 'ar', label: 'العربية' },
      ],
    },
    {
      key: 'zoneinfo',
      options: ['UTC', 'Africa/Abidjan', 'America/Argentina/ComodRivadavia', 'Europe/London'].map((zone) => ({
        value: zone,
        label: zone,
      })),
    },
  ],
  usernameChange: 'never',
  errors: noErrors,
} satisfies PageModels['account-profile'];

const email = {
  csrf,
  account: profile.account,
  email: 'ada.lovelace@acme.example',
  isVerified: true,
  others: [],
  pending: [],
  canAdd: true,
  values: { email: '' },
  errors: noErrors,
} satisfies PageModels['account-email'];
const to = 'ada.lovelace.of.the.analytical.engine@mail.example';

const deletion = {
  csrf,
  account: profile.account,
  applications: [{ name: 'Acme Mail' }, { name: 'Acme Spreadsheets of the Analytical Engine, Incorporated' }],
  passkeys: 2,
  sessions: 3,
  graceDays: 14,
  errors: noErrors,
} satisfies PageModels['account-delete'];

const password = {
  csrf,
  account,
  hasPassword: true,
  canReset: true,
  minLength: 8,
  errors: noErrors,
} satisfies PageModels['account-password'];

const second = {
  csrf,
  account,
  now,
  isOff: false,
  isRequired: false,
  appSince: now - 80 * DAY,
  hasFactor: true,
  hasEmailCodes: true,
  codesLeft: 7,
  canUseEmail: 'now',
  canRemoveApp: true,
  canRemoveEmail: true,
} satisfies PageModels['account-second-factor'];

const app = {
  csrf,
  account,
  pending: 'sealed',
  isReplacing: false,
  qr: await toQrDataUri(otpauthUri),
  secret: 'JBSW Y3DP EHPK 3PXP JBSW Y3DP EHPK 3PXP',
  otpauthUri,
} satisfies PageModels['account-app'];

export const accountSamples = {
  ...statesOf('account', home, {
    '': { notice: 'password_changed' },
    new: {
      account: { ...home.account, name: undefined, isEmailVerified: false },
      glance: { level: 'weak', advice: ['app', 'passkey', 'verify_email'] },
      codesLeft: 0,
      secondFactor: { hasEmailCodes: false, canUseEmail: 'later', hasFactor: false, isOff: false },
      hasMailedLink: false,
      passkeys: { count: 0 },
      sessions: home.sessions.slice(0, 1),
      devices: [],
      applications: [],
      activity: [],
    },
    confirm: {
      glance: { ...home.glance, level: 'fair' },
      confirmUrl: '/oauth2/authorize?prompt=login',
      alert: 'alert.session_gone',
    },
  }),
  ...statesOf('account-profile', profile, {
    username: {
      usernameChange: 'now',
      errors: { username: 'invalid.username_taken', given_name: 'invalid.text' },
    },
    later: { usernameChange: 'later', confirmUrl: '/oauth2/authorize?prompt=login', alert: 'alert.stale' },
  }),
  ...statesOf(
    'account-picture',
    { csrf, account: profile.account, errors: noErrors },
    {
      refused: {
        account: { ...profile.account, avatarId: 'AAAAAAAAAAAAAAAAAAAAAA' },
        errors: { picture: 'invalid.picture' },
      },
    },
  ),
  ...statesOf(
    'account-applications',
    {
      account: profile.account,
      applications: [
        { name: 'Acme Mail', url: 'https://mail.acme.example/', host: 'mail.acme.example' },
        {
          name: 'Analytical Engine, Spreadsheets and Tables, Incorporated',
          url: 'https://tables.of.the.department.of.analytical.engines.sheets.example:8443/',
          host: 'tables.of.the.department.of.analytical.engines.sheets.example:8443',
        },
        { name: 'وقائع', url: 'https://news.example/', host: 'news.example' },
        { name: 'Terminal' },
      ],
    },
    { none: { applications: [] } },
  ),
  ...statesOf(
    'account-data',
    { csrf, account: profile.account },
    { later: { confirmUrl: '/oauth2/authorize?prompt=login' } },
  ),
  'account-export': sample('account-export', {
    account: profile.account,
    exportedAt: now,
    sections: [
      {
        name: 'account',
        rows: [
          [
            { name: 'username', value: 'ada.lovelace' },
            { name: 'role', value: 'user' },
          ],
        ],
      },
      { name: 'passkeys', rows: [] },
      {
        name: 'activity',
        rows: [[{ name: 'event', value: 'signin.success' }], [{ name: 'details', value: '{"next":"x"}' }]],
      },
    ],
  }),
  ...statesOf('account-delete', deletion, {
    now: { applications: [], graceDays: 0, errors: { username: 'invalid.own_username' } },
    later: { confirmUrl: '/oauth2/authorize?prompt=login', alert: 'alert.last_admin' },
  }),
  'account-delete-done': sample('account-delete-done', { dueAt: now + 14 * DAY }),
  'account-delete-gone': sample('account-delete-done', {}),
  ...notMeSamples,
  ...statesOf('account-email', email, {
    '': { others: ['ada@lovelace.example', to], pending: ['countess@ockham.example'], notice: 'sent' },
    full: {
      others: ['ada@lovelace.example', 'countess@ockham.example', 'aal@engine.example', to],
      canAdd: false,
    },
    'no-mail': { others: [to], mailOff: true },
    unverified: { isVerified: false },
    wrong: { errors: { email: 'invalid.email_new' } },
    later: { email: undefined, isVerified: false, confirmUrl: '/oauth2/authorize?prompt=login' },
    stopped: { others: ['ada@lovelace.example'], stopped: { from: email.email, to, keepWaits: false } },
  }),
  ...statesOf(
    'account-email-confirm',
    {
      csrf,
      token: 'token-of-a-link',
      owner: profile.account,
      to,
      isAddition: true,
    },
    { first: { isAddition: false } },
  ),
  'account-email-drop': sample('account-email-stop', {
    csrf,
    token: 'token-of-a-link',
    from: email.email,
    added: to,
  }),
  'account-email-dropped': sample('account-email-done', { what: 'removed' }),
  'account-email-stop': sample('account-email-stop', {
    csrf,
    token: 'token-of-a-link',
    from: email.email,
  }),
  'account-email-changed': sample('account-email-done', { what: 'changed' }),
  'account-email-undone': sample('account-email-done', { what: 'undone' }),
  'account-email-ended': sample('account-email-done', { what: 'stopped' }),
  ...statesOf('account-password', password, {
    reported: { notice: 'reported' },
    wrong: { errors: { current_password: 'invalid.current_password' } },
    first: { hasPassword: false },
    confirm: { confirmUrl: '/oauth2/authorize?prompt=login' },
  }),
  ...statesOf('account-second-factor', second, {
    '': { notice: 'app_on' },
    none: { appSince: undefined, hasFactor: false, hasEmailCodes: false, codesLeft: 0 },
    required: {
      hasEmailCodes: false,
      isRequired: true,
      canRemoveApp: false,
      codesLeft: 0,
      alert: 'alert.factor_required',
    },
    confirm: { isOff: true, confirmUrl: '/oauth2/authorize?prompt=login' },
  }),
  ...statesOf('account-app', app, { again: { isReplacing: true, alert: 'alert.code_wrong' } }),
  'account-recovery-codes': sample('account-recovery-codes', { account, codes: recoveryCodes }),
} as const satisfies Record<string, Sample>;
