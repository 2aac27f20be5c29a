// Sample models of "This wasn't me".
import { csrf, type Sample, statesOf } from './sample.ts';

const now = Date.UTC(2026, 10, 21, 14, 30);
const DAY = 86_400_000;
const account = { username: 'ada.lovelace', name: 'Ada Lovelace' };

export const notMeSamples = {
  ...statesOf(
    'account-not-me',
    {
      tellsAdministrators: true,
      csrf,
      account,
      hasPassword: true,
      additions: [],
    },
    {
      added: {
        additions: [
          {
            id: 'email:countess@ockham.example',
            kind: 'email',
            name: 'countess@ockham.example',
            addedAt: now - DAY / 24,
            canRemove: true,
            isInUse: false,
            isSuspect: true,
          },
          {
            id: 'passkey:1',
            kind: 'passkey',
            name: 'iCloud Keychain',
            addedAt: now - DAY / 2,
            canRemove: true,
            isInUse: true,
            isSuspect: false,
          },
          {
            id: 'app',
            kind: 'app',
            addedAt: now - 3 * DAY,
            canRemove: false,
            isInUse: false,
            isSuspect: false,
          },
        ],
        alert: { key: 'alert.not_me_kept' },
      },
      later: { tellsAdministrators: false, hasPassword: false, confirmUrl: '/oauth2/authorize?prompt=login' },
    },
  ),
} as const satisfies Record<string, Sample>;
