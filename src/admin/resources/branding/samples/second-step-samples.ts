// Sample models of the second step: codes, enrolment, recovery codes.
import { toQrDataUri } from '../../../../second-factors/index.ts';
import type { PageModels } from '../../../../views/index.ts';
import { csrf, interaction, type Sample, sample, statesOf } from './sample.ts';

const secondStep = {
  csrf,
  interaction,
  clientId: 'acme',
  clientName: 'Acme Analytics',
  account: { username: 'ada.lovelace', name: 'Ada Lovelace' },
  switchUrl: '/oauth2/login?interaction=Vb3qZk1x9rT0&as=other',
  methods: ['totp', 'email', 'recovery'],
  method: 'totp',
  canTrust: true,
  trustDays: 30,
} satisfies PageModels['mfa'];
const byMail = { method: 'email', sentTo: 'a•••@a•••.example' } as const;

const otpauthUri =
  'otpauth://totp/Latchkey:ada.lovelace?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Latchkey';
const enrolment = {
  csrf,
  interaction,
  qr: await toQrDataUri(otpauthUri),
  secret: 'JBSW Y3DP EHPK 3PXP JBSW Y3DP EHPK 3PXP',
  otpauthUri,
  requiredBy: 'everyone',
  signals: { rpId: '127.0.0.1', userId: 'YWRh', acceptedIds: [], name: 'ada', displayName: 'Ada' },
} satisfies PageModels['mfa-enrol'];

export const recoveryCodes = [
  'k3v9-0qzt-m1x8-r5ce',
  '7wdn-2hgb-p4sy-0j6a',
  'x8te-5rcm-9k1v-3zqf',
  'b0hn-6ygw-d2pj-8s4x',
  't9ka-1mve-r7cq-5w3z',
  'g4xb-8dsn-0fyh-6p2t',
  '3jqe-w5rm-k8zc-1v9d',
  'n6pg-4tbs-7xha-2y0k',
  'r1dv-9zwf-c5mq-8e3j',
  'h7sy-0kxt-6gbn-4rpa',
];

export const secondStepSamples = {
  ...statesOf('mfa', secondStep, {
    failed: { alert: 'alert.code_wrong' },
    limited: { alert: 'alert.rate_limited', retryAfterSeconds: 95 },
    plain: {
      clientId: undefined,
      clientName: undefined,
      account: undefined,
      switchUrl: undefined,
      methods: ['totp'],
      canTrust: false,
    },
    email: { ...byMail, resendInSeconds: 42 },
    'email-again': { ...byMail, alert: 'alert.code_expired', isCodeSpent: true },
    'email-unsent': { method: 'email' },
    'email-no-mail': { method: 'email', mailOff: true },
    recovery: { method: 'recovery' },
    'recovery-failed': { method: 'recovery', alert: 'alert.code_wrong' },
  }),
  ...statesOf('mfa-enrol', enrolment, {
    email: { canUseEmail: true },
    failed: {
      clientName: 'Acme Analytics',
      requiredBy: 'client',
      passkey: 'first',
      alert: 'alert.code_wrong',
    },
    passkey: { clientName: 'Acme Analytics', requiredBy: 'client', passkey: 'first', canUseEmail: true },
    also: { requiredBy: 'admin', passkey: 'also' },
    reset: { requiredBy: 'reset', passkey: 'also' },
  }),
  leaving: sample('leaving', {
    csrf,
    interaction,
    account: { username: 'ada.lovelace' },
    dueAt: Date.UTC(2026, 11, 5),
  }),
  'recovery-codes': sample('recovery-codes', { csrf, interaction, codes: recoveryCodes }),
} as const satisfies Record<string, Sample>;
