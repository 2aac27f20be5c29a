// Sample models of pages with passkeys.
import type { PageModels } from '../../../../views/index.ts';
import { csrf, interaction, type Sample, sample, statesOf } from './sample.ts';

const making = {
  csrf,
  interaction,
  clientId: 'acme',
  account: { username: 'ada.lovelace', name: 'Ada Lovelace' },
  signals: {
    rpId: '127.0.0.1',
    userId: 'YWRh',
    acceptedIds: [],
    name: 'ada.lovelace',
    displayName: 'Ada Lovelace',
  },
} satisfies PageModels['passkey-enrol'];

const own = {
  csrf,
  account: { username: 'ada.lovelace' },
  passkeys: [
    {
      id: 'AQ',
      label: 'Phone',
      authenticator: 'Apple Passwords',
      isSynced: true,
      isSecurityKey: false,
      isSuspicious: false,
      createdAt: Date.UTC(2026, 2, 14),
      lastUsedAt: Date.UTC(2026, 10, 2),
      canRemove: true,
    },
    {
      id: 'Ag',
      label: '',
      authenticator: 'YubiKey 5 NFC',
      isSynced: false,
      isSecurityKey: true,
      isSuspicious: true,
      createdAt: Date.UTC(2026, 4, 2),
      lastUsedAt: undefined,
      canRemove: false,
    },
  ],
  signals: making.signals,
} satisfies PageModels['account-passkeys'];

const login = { csrf, interaction, clientName: 'Acme Analytics', values: { username: '' }, canCancel: true };

export const passkeySamples = {
  'login-passkey-only': sample('login', {
    ...login,
    mode: 'passkey_only',
    canPasskey: true,
    recoverUrl: '/auth/oauth2/recover?interaction=Vb3qZk1x9rT0',
  }),
  'mfa-passkey': sample('mfa', {
    csrf,
    interaction,
    clientName: 'Acme Analytics',
    account: { username: 'ada.lovelace', name: 'Ada Lovelace' },
    switchUrl: '/oauth2/login?interaction=Vb3qZk1x9rT0&as=other',
    methods: ['passkey', 'totp', 'recovery'],
    method: 'passkey',
    canTrust: true,
    trustDays: 30,
  }),
  'passkey-enrol': sample('passkey-enrol', making),
  'passkey-offer': sample('passkey-offer', making),
  ...statesOf(
    'recover',
    {
      csrf,
      interaction,
      clientId: 'acme',
      values: { username: '' },
      backUrl: '/auth/oauth2/login',
    },
    { failed: { values: { username: 'ada' }, alert: 'alert.recovery_failed' } },
  ),
  ...statesOf('account-passkeys', own, {
    '': { notice: 'added' },
    none: { passkeys: [] },
    confirm: { confirmUrl: '/oauth2/authorize?prompt=login' },
    last: { alert: 'alert.passkey_last' },
  }),
} as const satisfies Record<string, Sample>;
