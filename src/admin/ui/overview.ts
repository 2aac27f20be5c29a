// Owns the first page: what needs attention, the first steps of a new installation, and figures of the last day and month.
import { type Bucket, type Chart, chartOf } from './chart.ts';
import { itemsOf, textOf } from './field-values.ts';
import { createNames, eventRows } from './names.ts';
import type { Page, Values, Visit } from './page.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

type Query = Readonly<Record<string, string>>;

const totalOf = async (visit: Visit, route: string, query: Query): Promise<number> =>
  Number((await visit.call(route, { query: { ...query, limit: '1' } })).data.total);

interface Span {
  readonly count: number;
  readonly size: number;
  readonly label: (at: Date) => string;
}

/** Hours and days that are over are counted once; only the present one changes. */
async function series(visit: Visit, { count, size, label }: Span): Promise<Chart> {
  const end = Math.ceil(visit.now / size) * size;
  const buckets: Bucket[] = [];
  for (let index = 0; index < count; index += 1) {
    const from = end - (count - index) * size;
    const read = async (): Promise<Bucket> => {
      const at_from = new Date(from).toISOString();
      const at_to = new Date(from + size - 1).toISOString();
      const total = (event: string) => totalOf(visit, 'GET /audit', { event, at_from, at_to });
      return {
        label: label(new Date(from)),
        good: await total('signin.success'),
        bad: await total('signin.failure'),
      };
    };
    const isOver = from + size <= visit.now;
    // One after the other: with the embedded store all at once would hold up everybody else.
    buckets.push(await (isOver ? visit.remember(`signins ${size} ${from}`, read) : read()));
  }
  return chartOf(buckets);
}

export interface Attention {
  readonly icon: string;
  readonly text: string;
  readonly detail: string;
  readonly href: string;
  readonly action: string;
}

interface Facts {
  /** An auditor is told what is the case, not to do something about it. */
  readonly canChange: boolean;
  readonly hasMail: boolean;
  readonly hasOwnFactor: boolean;
  readonly mfaMode: string;
  readonly locked: readonly Values[];
  readonly lockedTotal: number;
  readonly failedMails: number;
  readonly admins: number;
}

function attentionOf(facts: Facts): Attention[] {
  const { canChange, locked, lockedTotal, failedMails } = facts;
  const found: (Attention | false)[] = [
    lockedTotal > 0 && {
      icon: 'lock',
      text: lockedTotal === 1 ? 'One user is locked out' : `${lockedTotal} users are locked out`,
      detail: `After too many wrong passwords: ${locked.map((user) => textOf(user, 'username')).join(', ')}`,
      href: lockedTotal === 1 ? `/users/${textOf(locked[0] ?? {}, 'id')}` : '/users?is_locked=true',
      action: 'Look',
    },
    !facts.hasOwnFactor &&
      facts.mfaMode !== 'off' && {
        icon: 'key',
        text: 'Your own account has no second factor',
        detail: `Whoever guesses your password ${canChange ? 'owns' : 'can read about'} every account here.`,
        href: '/second-factor',
        action: 'Add one',
      },
    !facts.hasMail && {
      icon: 'outbox',
      text: 'No mail server is set up',
      detail: 'Links and notices are kept in the outbox; nobody receives them.',
      href: '/settings/mail',
      action: canChange ? 'Set up' : 'Look',
    },
    failedMails > 0 && {
      icon: 'outbox',
      text: failedMails === 1 ? 'One mail could not be sent' : `${failedMails} mails could not be sent`,
      detail: 'The outbox tells why.',
      href: '/outbox?state=failed',
      action: 'Look',
    },
    facts.admins === 1 && {
      icon: 'users',
      text: canChange ? 'You are the only administrator' : 'There is only one administrator',
      detail: canChange
        ? 'If you lose access, nobody can help you. Make a colleague one, too.'
        : 'If they lose access, nobody can help them.',
      href: canChange ? '/users/new' : '/users?role=admin',
      action: canChange ? 'Add' : 'Look',
    },
  ];
  return found.filter((item) => item !== false);
}

async function overview(visit: Visit): Promise<void> {
  const { canChange } = visit;
  const total = (route: string, query: Query = {}) => totalOf(visit, route, query);
  const [settings, clients, locked, users, withFactor, sessions, failedMails, admins, hours, days, recent] =
    await Promise.all([
      visit.call('GET /settings'),
      visit.call('GET /clients', { query: { limit: '2' } }),
      visit.call('GET /users', { query: { is_locked: 'true', limit: '3' } }),
      total('GET /users', { is_active: 'true' }),
      total('GET /users', { is_active: 'true', totp_verified: 'true' }),
      total('GET /sessions', { is_active: 'true' }),
      // What is in mails is not for auditors, and the list of them neither.
      canChange ? total('GET /mails', { state: 'failed' }) : 0,
      total('GET /users', { is_active: 'true', role: 'admin' }),
      series(visit, { count: 24, size: HOUR, label: (at) => `${at.toISOString().slice(11, 13)}:00` }),
      series(visit, { count: 30, size: DAY, label: (at) => at.toISOString().slice(0, 10) }),
      visit.call('GET /audit', { query: { limit: '8' } }),
    ]);
  const settingOf = (key: string): Values =>
    itemsOf(settings.data).find((setting) => setting.key === key) ?? {};
  const applications = Number(clients.data.total) - 1;
  const facts: Facts = {
    canChange,
    // A secret's value is not told; that somebody set it is.
    hasMail: settingOf('smtp_url').updated_at !== null,
    hasOwnFactor: visit.who.account.totpVerified,
    mfaMode: textOf(settingOf('mfa_mode'), 'value'),
    locked: itemsOf(locked.data),
    lockedTotal: Number(locked.data.total),
    failedMails,
    admins,
  };
  const steps = [
    {
      isDone: applications > 0,
      text: 'Add your first application',
      detail: 'You get a client ID and a snippet that is ready to copy.',
      href: '/applications/new',
    },
    {
      isDone: facts.hasMail,
      text: 'Connect a mail server',
      detail: 'For links to new passwords, codes and notices.',
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
      text: 'Add people',
      detail: 'Create the first accounts beside your own.',
      href: '/users/new',
    },
  ];
  const isNew = canChange && steps.some(({ isDone }) => !isDone);
  // What the first steps ask for already need not be asked for twice.
  const attention = attentionOf(facts).filter(
    ({ href }) => !isNew || !steps.some((step) => step.href === href && !step.isDone),
  );
  visit.show('overview', {
    title: 'Overview',
    here: 'overview',
    isNew,
    steps,
    attention,
    figures: [
      { label: 'Active users', value: users, href: '/users?is_active=true' },
      { label: 'Active sessions', value: sessions, href: '/sessions?is_active=true' },
      { label: 'Applications', value: applications, href: '/applications' },
      {
        label: 'With a second factor',
        value: users === 0 ? 0 : Math.round((withFactor / users) * 100),
        unit: '%',
        href: '/users?totp_verified=false',
      },
    ],
    charts: [
      { title: 'Last 24 hours', chart: hours, id: 'hours' },
      { title: 'Last 30 days', chart: days, id: 'days' },
    ],
    recent: await eventRows(itemsOf(recent.data), createNames(visit)),
  });
}

export const overviewPages: readonly Page[] = [
  { method: 'GET', path: '', handle: overview },
  { method: 'GET', path: '/second-factor', handle: async (visit) => visit.addFactor() },
];
