// The overview of an account with everything that it can have.
import type { PageModels } from '../../../../views/index.ts';
import { csrf } from './sample.ts';

const now = Date.UTC(2026, 10, 21, 14, 30);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

export const home = {
  csrf,
  account: {
    username: 'ada.lovelace',
    name: 'Ada Lovelace',
    email: 'ada.lovelace@acme.example',
    isEmailVerified: true,
  },
  now,
  glance: { level: 'strong', advice: ['few_recovery_codes'] },
  codesLeft: 2,
  canDelete: true,
  signals: { rpId: '127.0.0.1', userId: 'YWRh', acceptedIds: [], name: 'ada', displayName: 'Ada' },
  password: { isSet: true, changedAt: now - 90 * DAY },
  secondFactor: {
    appSince: now - 80 * DAY,
    appUsedAt: now - 2 * DAY,
    hasEmailCodes: false,
    canUseEmail: 'now',
    hasFactor: true,
    isOff: false,
  },
  hasMailedLink: true,
  passkeys: { count: 2, lastUsedAt: now - 3 * DAY },
  sessions: [
    {
      id: 's1',
      browser: 'Chrome',
      system: 'Windows',
      ipAddress: '203.0.113.5',
      signedInAt: now - 3 * DAY,
      lastActivityAt: now - 10_000,
      isThis: true,
    },
    {
      id: 's2',
      browser: 'Safari',
      system: 'iPhone',
      ipAddress: '2001:db8:85a3:8d3:1319:8a2e:370:7348',
      signedInAt: now - 12 * DAY,
      lastActivityAt: now - 26 * HOUR,
      isThis: false,
    },
    {
      id: 's3',
      ipAddress: '198.51.100.23',
      signedInAt: now - 20 * DAY,
      lastActivityAt: now - 9 * DAY,
      isThis: false,
    },
  ],
  devices: [
    {
      id: 'd1',
      browser: 'Firefox',
      system: 'Linux',
      ipAddress: '198.51.100.23',
      lastUsedAt: now - 5 * DAY,
      expiresAt: now + 25 * DAY,
    },
    {
      id: 'd2',
      browser: 'Chrome',
      system: 'Android',
      ipAddress: '198.51.100.24',
      lastUsedAt: now - 6 * DAY,
      expiresAt: now + 24 * DAY,
    },
  ],
  applications: [
    {
      clientId: 'acme',
      name: 'Acme Analytics',
      scopes: ['openid', 'profile', 'email', 'offline_access', 'reports:read'],
      apis: [
        {
          name: 'Orders',
          resource: 'https://orders.example.com',
          scopes: [
            { name: 'orders:read', description: 'See your orders' },
            { name: 'orders:write', description: 'Change and cancel your orders' },
          ],
        },
      ],
      since: now - 40 * DAY,
      lastUsedAt: now - 10_000,
      tokens: 2,
    },
    {
      clientId: 'wiki',
      name: 'Wiki',
      scopes: ['openid'],
      apis: [],
      since: now - 200 * DAY,
      lastUsedAt: now - 200 * DAY,
      tokens: 0,
    },
  ],
  activity: [
    {
      at: now - 10_000,
      kind: 'signin',
      isProblem: false,
      browser: 'Chrome',
      system: 'Windows',
      ipAddress: '203.0.113.5',
    },
    {
      at: now - 2 * HOUR,
      kind: 'signin_failed',
      isProblem: true,
      browser: 'Firefox',
      ipAddress: '198.51.100.99',
    },
    {
      at: now - 40 * DAY,
      kind: 'application_allowed',
      isProblem: false,
      application: 'Acme Analytics',
      browser: 'Chrome',
      system: 'Windows',
      ipAddress: '203.0.113.5',
    },
    { at: now - 45 * DAY, kind: 'changed_by_admin', isProblem: false },
  ],
} satisfies PageModels['account'];
