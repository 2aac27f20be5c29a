// The overview: what needs attention, the first steps of a new installation, and figures of the last day and month. Nearly
// all data comes from GET /stats, which is computed at most once in ten seconds; only values that an administrator may just
// have changed are read directly.
import type { Stats, StatsPoint } from '../../api/stats-schema.ts';
import { barsOf, lineOf, shareOf } from '../../pages/chart.ts';
import { type AdminContext, get, type Page, post } from '../../pages/page.ts';
import { auditLog } from '../audit/resource.ts';
import { clients } from '../clients/resource.ts';
import { keyPlanOf } from '../keys/plan.ts';
import { signingKeys } from '../keys/resource.ts';
import { mails } from '../mails/resource.ts';
import { createNames, shownEvents } from '../names.ts';
import { mailServer } from '../settings/mail-server.ts';
import { hasMailServer, readSettings } from '../settings/read.ts';
import { users } from '../users/resource.ts';
import { attentionOf, type Facts } from './attention.ts';
import { emailsYieldedLately, pkceRequiredLately } from './happened-lately.ts';
import { stats } from './resource.ts';

const hourLabel = (at: string): string => `${at.slice(11, 13)}:00`;
const dayLabel = (at: string): string => at.slice(0, 10);

const signInsOf = (points: readonly StatsPoint[], labelOf: (at: string) => string) =>
  barsOf(
    points.map((point) => ({
      label: labelOf(point.at),
      first: point.sign_ins,
      second: point.failed_sign_ins,
    })),
  );

const sumOf = (points: readonly StatsPoint[], name: 'passkeys_used' | 'second_factors_used'): number =>
  points.reduce((total, point) => total + point[name], 0);

/** Fewer are no picture yet: an administrator's own first one would be the only bar. */
const FEW_SIGN_INS = 5;

/** Administrators of small installations expect to see a change at once; for them a direct count is cheap. */
const SMALL = 3;
const ONE = { query: { limit: '1' } };

async function freshCounts(context: AdminContext, counts: Stats['counts']) {
  const [applications, people] = await Promise.all([
    counts.clients < SMALL ? (await context.call(clients.list, ONE)).data.total : counts.clients,
    counts.users < SMALL ? (await context.call(users.list, ONE)).data.total : counts.users,
  ]);
  // The Admin UI itself is registered as one.
  return { applications: applications - 1, users: people };
}

/** The next one to be sent: where the server is the problem, it says which. */
async function oldestMail(context: AdminContext) {
  const query = { state: 'queued', sort: 'created_at', order: 'asc', limit: '1' };
  const [mail] = (await context.call(mails.list, { query })).data.items;
  return mail;
}

async function factsOf(context: AdminContext, { counts, hours }: Stats): Promise<Facts> {
  const { canChange, now } = context;
  // Auditors may not read mails or their list.
  const mailsQueued = canChange ? counts.mails_queued : 0;
  const [settingOf, server, keys, locked, pkceRequired, emailsYielded, oldest] = await Promise.all([
    readSettings(context),
    context.call(mailServer.read, {}),
    context.call(signingKeys.list, {}),
    context.call(users.list, { query: { is_locked: 'true', limit: '3' } }),
    pkceRequiredLately(context),
    emailsYieldedLately(context),
    mailsQueued > 0 ? oldestMail(context) : undefined,
  ]);
  return {
    canChange,
    hasMail: hasMailServer(settingOf),
    isMailProven: server.data.accepted_at !== null,
    mailServerProblem: server.data.last_error ?? undefined,
    mailsKept: canChange ? counts.mails_kept : 0,
    hasOwnFactor: context.admin.strongestAcr !== undefined,
    mfaMode: String(settingOf('mfa_mode')?.value),
    locked: locked.data.items,
    lockedTotal: locked.data.total,
    mailsFailed: canChange ? counts.mails_failed : 0,
    mailsQueued,
    mailWaitsSince: oldest && Date.parse(oldest.created_at),
    mailProblem: oldest?.last_error ?? undefined,
    administrators: counts.administrators,
    pkceRequired,
    emailsYielded,
    keyPlan: keyPlanOf(keys.data.items, Number(settingOf('key_rotation_seconds')?.value ?? 0), now),
    hours,
    now,
  };
}

interface Step {
  readonly isDone: boolean;
  readonly text: string;
  readonly detail: string;
  readonly href: string;
}

const stepsOf = (facts: Facts, counts: { readonly applications: number; readonly users: number }): Step[] => [
  {
    isDone: counts.applications > 0,
    text: 'Add your first application',
    detail: 'You get a client ID and code that is ready to copy.',
    href: '/applications/new',
  },
  {
    isDone: facts.hasMail && facts.isMailProven,
    text: 'Connect a mail server',
    detail: facts.hasMail
      ? 'One is set, but has not accepted an e-mail yet: send a test.'
      : 'To send password reset links, codes and notices.',
    href: '/settings/mail',
  },
  {
    isDone: facts.hasOwnFactor,
    text: 'Protect your own account',
    detail: 'An authenticator app as a second factor.',
    href: '/second-factor',
  },
  {
    isDone: counts.users > 1,
    text: 'Add users',
    detail: 'Create accounts for other users, or invite them.',
    href: '/users/new',
  },
];

async function overview(context: AdminContext): Promise<void> {
  const [{ data }, recent] = await Promise.all([
    context.call(stats.read, {}),
    context.call(auditLog.list, { query: { limit: '8' } }),
  ]);
  const { counts, hours, days } = data;
  const [facts, fresh] = await Promise.all([factsOf(context, data), freshCounts(context, counts)]);
  const steps = stepsOf(facts, fresh);
  const areStepsLeft = context.canChange && steps.some(({ isDone }) => !isDone);
  const isNew = areStepsLeft && !context.choices.areStepsDismissed;
  const signIns = [
    { id: 'hours', title: 'Sign-ins, last 24 hours', chart: signInsOf(hours, hourLabel) },
    { id: 'days', title: 'Sign-ins, last 30 days', chart: signInsOf(days, dayLabel) },
  ];
  // Omits problems that the first steps already cover.
  const attention = attentionOf(facts).filter(
    ({ href }) => !isNew || !steps.some((step) => step.href === href && !step.isDone),
  );
  context.show('overview', {
    title: 'Overview',
    here: 'overview',
    isNew,
    areStepsLeft: areStepsLeft && !isNew,
    steps,
    attention,
    madeAt: data.generated_at,
    figures: [
      { label: 'Active users', value: fresh.users - counts.users_inactive, href: '/users?is_active=true' },
      { label: 'Active sessions', value: counts.sessions_active, href: '/sessions?is_active=true' },
      { label: 'Applications', value: fresh.applications, href: '/applications' },
      { label: 'Locked out', value: facts.lockedTotal, href: '/users?is_locked=true' },
    ],
    signIns,
    isQuiet: signIns.every(({ chart }) => chart.first + chart.second < FEW_SIGN_INS),
    sessions: lineOf(hours.map(({ at, sessions_active: value }) => ({ label: hourLabel(at), value }))),
    sessionsNow: counts.sessions_active,
    used: { passkeys: sumOf(days, 'passkeys_used'), secondFactors: sumOf(days, 'second_factors_used') },
    adoption: [
      {
        label: 'Second factor',
        share: shareOf(counts.users_with_second_factor, fresh.users),
        href: '/users?totp_verified=false',
        action: 'Who has none',
      },
      { label: 'Passkey', share: shareOf(counts.users_with_passkey, fresh.users), href: '', action: '' },
    ],
    recent: await shownEvents(recent.data.items, createNames(context)),
  });
}

/** Dismissed for this administrator in this browser. */
async function dismissSteps(context: AdminContext): Promise<void> {
  const areStepsDismissed = context.form.get('shown') !== 'yes';
  context.keepChoices({ areStepsDismissed });
  if (areStepsDismissed)
    context.go('', 'steps-dismissed', { path: '/first-steps', fields: { shown: 'yes' } });
  else context.go('');
}

export const overviewPages: readonly Page[] = [
  post('/first-steps', dismissSteps),
  get('', overview),
  get('/second-factor', async (context) => context.addFactor()),
];
