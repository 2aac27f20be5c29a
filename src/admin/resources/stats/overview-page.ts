// The overview: what needs attention, the first steps of a new installation, and figures of the last day and month. Nearly
// all data comes from GET /stats, which is computed at most once in ten seconds; only values that an administrator may just
// have changed are read directly.
import { barsOf, lineOf, shareOf } from '../../pages/chart.ts';
import { itemsOf, textOf } from '../../pages/field-values.ts';
import type { AdminContext, Page, Values } from '../../pages/page.ts';
import { keyPlanOf } from '../keys/plan.ts';
import { signingKeys } from '../keys/resource.ts';
import { createNames, eventRows } from '../names.ts';
import { attentionOf } from './attention.ts';

const valuesOf = (value: unknown): Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
const listOf = (value: unknown): readonly Values[] => (Array.isArray(value) ? value.map(valuesOf) : []);

const hourLabel = (at: string): string => `${at.slice(11, 13)}:00`;
const dayLabel = (at: string): string => at.slice(0, 10);

/** Two figures of each hour or day, stacked. */
const stacked = (
  points: readonly Values[],
  labelOf: (at: string) => string,
  [first, second]: readonly [string, string],
) =>
  barsOf(
    points.map((point) => ({
      label: labelOf(textOf(point, 'at')),
      first: Number(point[first]),
      second: Number(point[second]),
    })),
  );

const sumOf = (points: readonly Values[], name: string): number =>
  points.reduce((total, point) => total + Number(point[name] ?? 0), 0);

const sessionsOver = (hours: readonly Values[]) =>
  lineOf(
    hours.map((hour) => ({
      label: hourLabel(textOf(hour, 'at')),
      value: typeof hour.sessions_active === 'number' ? hour.sessions_active : null,
    })),
  );

/** The total of a list. */
const totalOf = async (context: AdminContext, route: string): Promise<number> =>
  Number((await context.callByName(route, { query: { limit: '1' } })).data.total);

/** Administrators of small installations expect to see a change at once; for them a direct count is cheap. */
const SMALL = 3;
const freshWhereSmall = async (context: AdminContext, counted: number, route: string): Promise<number> =>
  counted < SMALL ? totalOf(context, route) : counted;

async function oldestMail(context: AdminContext): Promise<number | undefined> {
  const query = { state: 'queued', sort: 'created_at', order: 'asc', limit: '1' };
  const [mail] = itemsOf((await context.callByName('GET /mails', { query })).data);
  return mail && Date.parse(textOf(mail, 'created_at'));
}

async function overview(context: AdminContext): Promise<void> {
  const { canChange } = context;
  const [stats, settings, keys, locked, recent] = await Promise.all([
    context.callByName('GET /stats'),
    context.callByName('GET /settings'),
    context.call(signingKeys.list, {}),
    context.callByName('GET /users', { query: { is_locked: 'true', limit: '3' } }),
    context.callByName('GET /audit', { query: { limit: '8' } }),
  ]);
  const counts = valuesOf(stats.data.counts);
  const countOf = (name: string): number => Number(counts[name] ?? 0);
  const [hours, days] = [listOf(stats.data.hours), listOf(stats.data.days)];
  const settingOf = (key: string): Values =>
    itemsOf(settings.data).find((setting) => setting.key === key) ?? {};
  const [clients, users] = await Promise.all([
    freshWhereSmall(context, countOf('clients'), 'GET /clients'),
    freshWhereSmall(context, countOf('users'), 'GET /users'),
  ]);
  // The Admin UI itself is registered as one.
  const applications = clients - 1;
  const active = users - countOf('users_inactive');
  const mailsQueued = canChange ? countOf('mails_queued') : 0;
  const rotationSeconds = Number(settingOf('key_rotation_seconds').value ?? 0);
  const facts = {
    canChange,
    // The API does not return a secret's value, only that it was set.
    hasMail: settingOf('smtp_url').updated_at !== null,
    hasOwnFactor: context.admin.strongestAcr !== undefined,
    mfaMode: textOf(settingOf('mfa_mode'), 'value'),
    locked: itemsOf(locked.data),
    lockedTotal: Number(locked.data.total),
    // Auditors may not read mails or their list.
    mailsFailed: canChange ? countOf('mails_failed') : 0,
    mailsQueued,
    mailWaitsSince: mailsQueued > 0 ? await oldestMail(context) : undefined,
    administrators: countOf('administrators'),
    keyPlan: keyPlanOf(keys.data.items, rotationSeconds, context.now),
    hours,
    now: context.now,
  };
  const steps = [
    {
      isDone: applications > 0,
      text: 'Add your first application',
      detail: 'You get a client ID and code that is ready to copy.',
      href: '/applications/new',
    },
    {
      isDone: facts.hasMail,
      text: 'Connect a mail server',
      detail: 'To send password reset links, codes and notices.',
      href: '/settings/mail',
    },
    {
      isDone: facts.hasOwnFactor,
      text: 'Protect your own account',
      detail: 'An authenticator app as a second factor.',
      href: '/second-factor',
    },
    {
      isDone: users > 1,
      text: 'Add users',
      detail: 'Create accounts for other users, or invite them.',
      href: '/users/new',
    },
  ];
  const isNew = canChange && steps.some(({ isDone }) => !isDone);
  // Omits problems that the first steps already cover.
  const attention = attentionOf(facts).filter(
    ({ href }) => !isNew || !steps.some((step) => step.href === href && !step.isDone),
  );
  context.show('overview', {
    title: 'Overview',
    here: 'overview',
    isNew,
    steps,
    attention,
    madeAt: textOf(stats.data, 'generated_at'),
    figures: [
      { label: 'Active users', value: active, href: '/users?is_active=true' },
      { label: 'Active sessions', value: countOf('sessions_active'), href: '/sessions?is_active=true' },
      { label: 'Applications', value: applications, href: '/applications' },
      { label: 'Locked out', value: facts.lockedTotal, href: '/users?is_locked=true' },
    ],
    signIns: [
      {
        id: 'hours',
        title: 'Sign-ins, last 24 hours',
        chart: stacked(hours, hourLabel, ['sign_ins', 'failed_sign_ins']),
      },
      {
        id: 'days',
        title: 'Sign-ins, last 30 days',
        chart: stacked(days, dayLabel, ['sign_ins', 'failed_sign_ins']),
      },
    ],
    sessions: sessionsOver(hours),
    sessionsNow: countOf('sessions_active'),
    used: { passkeys: sumOf(days, 'passkeys_used'), secondFactors: sumOf(days, 'second_factors_used') },
    adoption: [
      {
        label: 'Second factor',
        share: shareOf(countOf('users_with_second_factor'), users),
        href: '/users?totp_verified=false',
        action: 'Who has none',
      },
      { label: 'Passkey', share: shareOf(countOf('users_with_passkey'), users), href: '', action: '' },
    ],
    recent: await eventRows(itemsOf(recent.data), createNames(context)),
  });
}

export const overviewPages: readonly Page[] = [
  { method: 'GET', path: '', handle: overview },
  { method: 'GET', path: '/second-factor', handle: async (context) => context.addFactor() },
];
