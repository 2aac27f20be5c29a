// The attack and audit tests that also run on the split deployment: those where a session, counter, grant, link or event is
// stored and found again. Not those about requests, responses and clocks only, nor those with their own stores. Those in
// test/flows run there by themselves.

/** Used once, counted by many at once, or ended: where the store is the one who says so. Each run has them. */
const EACH_RUN = [
  'attacks/guessing-recovery-codes',
  'attacks/phished-device-code',
  'attacks/session-from-before-mfa',
];

/** With LONG=1, and where MONGODB_TEST_URI names a real server. */
const WHOLE_RUN = [
  'attacks/admin-scope-by-one-factor',
  'attacks/api-key-outlives-its-owner',
  'attacks/broken-access-control',
  'attacks/claims-past-consent',
  'attacks/email-changed-by-administrator',
  'attacks/unearned-freshness',
  'attacks/guessing-a-client-secret',
  'attacks/guessing-a-password',
  'attacks/account-changed-mid-flow',
  'attacks/old-password-at-the-second-factor',
  'attacks/built-in-callback',
  'attacks/oversized-requests',
  'attacks/password-rules',
  'attacks/repeated-challenge',
  'attacks/short-sole-password',
  'attacks/locking-out-the-owner',
  'attacks/silent-past-the-second-factor',
  'attacks/stale-administrator',
  'attacks/token-for-another-audience',
  'attacks/withdrawn-scopes',
  'audit/sign-in-events',
  'audit/token-events',
  'audit/token-log',
];

export const trustFiles = (isWhole: boolean): string[] =>
  [...EACH_RUN, ...(isWhole ? WHOLE_RUN : [])].map((name) => `test/${name}.test.ts`);
