// What the overview asks an administrator to check first: only what is unusual, and never too late.
import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { keyPlanOf } from '../../src/admin/resources/keys/plan.ts';
import type { SigningKey } from '../../src/admin/resources/keys/resource.ts';
import { attentionOf, type Facts, failingOf } from '../../src/admin/resources/stats/attention.ts';

const NOW = Date.parse('2026-03-14T09:00:00Z');
const HOUR = 3_600_000;
const iso = (at: number): string => new Date(at).toISOString();

const hoursOf = (failed: readonly number[], succeeded: number) =>
  failed.map((failed_sign_ins) => ({ failed_sign_ins, sign_ins: succeeded }));
const quiet = Array.from({ length: 22 }, () => 2);

test('attention: failed sign-ins of an attack are flagged, mistypes and busy days are not', () => {
  deepEqual(failingOf(hoursOf([...quiet, 10, 15], 100)), { failed: 25, succeeded: 200 });
  deepEqual(failingOf(hoursOf([...quiet, 0, 30], 3)), { failed: 30, succeeded: 6 });
  equal(failingOf(hoursOf([...quiet, 9, 10], 0)), undefined, 'few');
  const busy = Array.from({ length: 22 }, () => 40);
  equal(failingOf(hoursOf([...busy, 45, 60], 900)), undefined, 'as usual here');
  deepEqual(
    failingOf(hoursOf([...busy, 45, 60], 10)),
    { failed: 105, succeeded: 20 },
    'but hardly any succeeds',
  );
  equal(failingOf([]), undefined);
});

test('attention: signing keys show the next scheduled step and when it is late', () => {
  const blank = { kid: 'k', alg: 'RS256', activates_at: null, retired_at: null, removed_at: null } as const;
  const current = {
    ...blank,
    state: 'current',
    created_at: iso(NOW - 48 * HOUR),
    activated_at: iso(NOW - 24 * HOUR),
  } as const;
  const plan = (keys: readonly SigningKey[], seconds: number) => keyPlanOf(keys, seconds, NOW);
  deepEqual(plan([current], 2 * 86_400), {
    kind: 'renew',
    at: iso(NOW + 24 * HOUR),
    shownFrom: iso(NOW + 24 * HOUR - 900_000),
    isOverdue: false,
  });
  equal(plan([current], 86_400 - 1800).isOverdue, false, 'the job may be on its way');
  equal(plan([current], 86_400 - 7200).isOverdue, true);
  equal(plan([current], 0).kind, 'never');
  equal(plan([current], 0).isOverdue, false);
  const next = {
    ...blank,
    state: 'next',
    created_at: iso(NOW),
    activates_at: iso(NOW + 900_000),
    activated_at: null,
  } as const;
  deepEqual(plan([next, current], 60), {
    kind: 'switch',
    at: iso(NOW + 900_000),
    shownFrom: iso(NOW),
    isOverdue: false,
  });
});

test('attention: resolved items disappear and the most urgent comes first', () => {
  const calm: Facts = {
    canChange: true,
    hasMail: true,
    isMailProven: true,
    mailServerProblem: undefined,
    mailsKept: 0,
    mailProblem: undefined,
    hasOwnFactor: true,
    mfaMode: 'optional',
    locked: [],
    lockedTotal: 0,
    mailsFailed: 0,
    mailsQueued: 3,
    mailWaitsSince: NOW - 60_000,
    administrators: 2,
    pkceRequired: [],
    emailsYielded: 0,
    keyPlan: { kind: 'renew', at: iso(NOW), shownFrom: iso(NOW), isOverdue: false },
    hours: hoursOf(quiet, 50),
    now: NOW,
  };
  deepEqual(attentionOf(calm), []);
  const grim: Facts = {
    ...calm,
    hasMail: false,
    hasOwnFactor: false,
    locked: [{ id: 'u1', username: 'grace', name: 'Grace Hopper', given_name: null, family_name: null }],
    lockedTotal: 1,
    mailsFailed: 2,
    mailWaitsSince: NOW - HOUR,
    administrators: 1,
    pkceRequired: [{ clientId: 'c1', name: 'Ledger' }],
    keyPlan: { ...calm.keyPlan, isOverdue: true },
    hours: hoursOf([...quiet, 0, 99], 1),
  };
  deepEqual(
    attentionOf(grim).map(({ text }) => text),
    [
      '99 sign-ins failed in the last two hours',
      'One user is locked in new browsers',
      'One application now requires PKCE',
      'Signing key rotation is overdue',
      '2 e-mails could not be sent',
      '3 e-mails are waiting to be sent',
      'Your own account has no second factor',
      'No mail server is configured',
      'You are the only administrator',
    ],
  );
});
