// The problems that an administrator should handle first, derived from facts and ordered by urgency, each with a link to
// the page where it is fixed.
import type { User } from '../../../accounts/index.ts';
import { type PageText, phrase } from '../../../phrase.ts';
import type { StatsPoint } from '../../api/stats-schema.ts';
import { type Person, personName } from '../../pages/format.ts';
import type { KeyPlan } from '../keys/plan.ts';
import type { PkceRequired } from './happened-lately.ts';

/** One hour. */
type SignIns = Pick<StatsPoint, 'sign_ins' | 'failed_sign_ins'>;

export interface Attention {
  readonly icon: string;
  readonly text: string;
  readonly detail: PageText;
  readonly href: string;
  readonly action: string;
}

export interface Facts {
  /** Auditors see the problem, without a request to act. */
  readonly canChange: boolean;
  readonly hasMail: boolean;
  /** Whether the mail server, as it is set, has accepted a mail. */
  readonly isMailProven: boolean;
  /** Why it accepts none now, as far as is known. */
  readonly mailServerProblem: string | undefined;
  /** Mails that nobody gets. */
  readonly mailsKept: number;
  readonly hasOwnFactor: boolean;
  readonly mfaMode: string;
  /** Some of the locked users. */
  readonly locked: readonly (Pick<User, 'id'> & Person)[];
  readonly lockedTotal: number;
  readonly mailsFailed: number;
  /** Creation time of the oldest queued mail, in epoch milliseconds. */
  readonly mailWaitsSince: number | undefined;
  /** Why it was not sent at its last attempt. */
  readonly mailProblem: string | undefined;
  readonly mailsQueued: number;
  readonly administrators: number;
  /** Some of the applications that lately began to require PKCE by themselves. */
  readonly pkceRequired: readonly PkceRequired[];
  /** How many accounts lately gave up a further address, which another has as its primary one. */
  readonly emailsYielded: number;
  readonly keyPlan: KeyPlan;
  /** The current one last. */
  readonly hours: readonly SignIns[];
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Fewer failures are attributed to typing errors. */
const MANY_FAILURES = 20;
/** Failures this many times above the average are unusual. */
const UNUSUAL = 3;
/** A short queue on a busy mail server is not a problem yet. */
const MAIL_PATIENCE_MS = 15 * 60_000;

// Whole sentences: another language says more than the number differently.
const lockedWords = (count: number): string =>
  count === 1 ? 'One user is locked in new browsers' : `${count} users are locked in new browsers`;
const pkceWords = (count: number): string =>
  count === 1 ? 'One application now requires PKCE' : `${count} applications now require PKCE`;
const yieldedWords = (count: number): string =>
  count === 1
    ? 'One e-mail address was given up to another account'
    : `${count} e-mail addresses were given up to other accounts`;
const failedWords = (count: number): string =>
  count === 1 ? 'One e-mail could not be sent' : `${count} e-mails could not be sent`;
const queuedWords = (count: number): string =>
  count === 1 ? 'One e-mail is waiting to be sent' : `${count} e-mails are waiting to be sent`;
const keptWords = (count: number): string =>
  count === 1 ? 'One e-mail is waiting: no mail server' : `${count} e-mails are waiting: no mail server`;

interface Failing {
  readonly failed: number;
  readonly succeeded: number;
}

/** @returns the last two hours, if sign-ins fail unusually often in them */
export function failingOf(hours: readonly SignIns[]): Failing | undefined {
  const sum = (of: readonly SignIns[], name: keyof SignIns): number =>
    of.reduce((total, hour) => total + hour[name], 0);
  const [earlier, latest] = [hours.slice(0, -2), hours.slice(-2)];
  const failed = sum(latest, 'failed_sign_ins');
  const succeeded = sum(latest, 'sign_ins');
  const usual = earlier.length === 0 ? 0 : (sum(earlier, 'failed_sign_ins') / earlier.length) * latest.length;
  const isUnusual = failed > succeeded || failed >= UNUSUAL * Math.max(1, usual);
  return failed >= MANY_FAILURES && isUnusual ? { failed, succeeded } : undefined;
}

type Found = Attention | false;

const yieldedOf = ({ emailsYielded }: Facts): Found =>
  emailsYielded > 0 && {
    icon: 'users',
    text: yieldedWords(emailsYielded),
    detail:
      'An older version that ran beside this one let somebody have it as the primary address. Check whose it is.',
    href: '/audit?event=email.yielded',
    action: 'View',
  };

function unsentMails({ mailsFailed, mailsQueued, mailWaitsSince, mailProblem, now }: Facts): Found[] {
  const isMailStuck = mailWaitsSince !== undefined && now - mailWaitsSince > MAIL_PATIENCE_MS;
  return [
    mailsFailed > 0 && {
      icon: 'outbox',
      text: failedWords(mailsFailed),
      detail: 'The outbox shows the reason.',
      href: '/outbox?state=failed',
      action: 'View',
    },
    isMailStuck && {
      icon: 'outbox',
      text: queuedWords(mailsQueued),
      detail: mailProblem ?? 'The oldest for more than 15 minutes. The mail server may be down.',
      href: '/outbox?state=queued',
      action: 'View',
    },
  ];
}

function mailServerProblems({
  canChange,
  hasMail,
  isMailProven,
  mailServerProblem,
  mailsKept,
}: Facts): Found[] {
  return [
    !hasMail &&
      mailsKept > 0 && {
        icon: 'outbox',
        text: keptWords(mailsKept),
        detail: 'Nobody gets them. Pass their links on from the outbox, or connect a mail server.',
        href: '/outbox?state=kept',
        action: 'View',
      },
    !hasMail &&
      mailsKept === 0 && {
        icon: 'outbox',
        text: 'No mail server is configured',
        detail: 'Links and notices are stored in the outbox and not delivered.',
        href: '/settings/mail',
        action: canChange ? 'Set up' : 'View',
      },
    hasMail &&
      !isMailProven && {
        icon: 'outbox',
        text: 'The mail server has not accepted an e-mail yet',
        detail: mailServerProblem ?? 'Whether it works is not known.',
        href: '/settings/mail',
        action: canChange ? 'Send a test' : 'View',
      },
  ];
}

export function attentionOf(facts: Facts): Attention[] {
  const { canChange, pkceRequired, locked, lockedTotal } = facts;
  const failing = failingOf(facts.hours);
  const found: Found[] = [
    failing !== undefined && {
      icon: 'warning',
      text: `${failing.failed} sign-ins failed in the last two hours`,
      detail: `${failing.succeeded} succeeded. Someone may be guessing passwords, or an application may be misconfigured.`,
      href: '/audit?event=signin.failure',
      action: 'View',
    },
    lockedTotal > 0 && {
      icon: 'lock',
      text: lockedWords(lockedTotal),
      detail: phrase`After too many wrong passwords: ${locked.map(personName).join(', ')}`,
      href: lockedTotal === 1 ? `/users/${locked[0]?.id ?? ''}` : '/users?is_locked=true',
      action: 'View',
    },
    pkceRequired.length > 0 && {
      icon: 'key',
      text: pkceWords(pkceRequired.length),
      detail: phrase`It was used 20 times in a row, so a sign-in without it is refused: ${pkceRequired.map(({ name }) => name).join(', ')}`,
      href:
        pkceRequired.length === 1
          ? `/applications/${pkceRequired[0]?.clientId}`
          : '/audit?event=client.pkce_required',
      action: 'View',
    },
    yieldedOf(facts),
    facts.keyPlan.isOverdue && {
      icon: 'key',
      text: 'Signing key rotation is overdue',
      detail: 'Scheduled jobs do not seem to run.',
      href: '/keys',
      action: 'View',
    },
    ...unsentMails(facts),
    !facts.hasOwnFactor &&
      facts.mfaMode !== 'off' && {
        icon: 'key',
        text: 'Your own account has no second factor',
        detail: `Anyone who guesses your password can ${canChange ? 'manage' : 'read'} every account here.`,
        href: '/second-factor',
        action: 'Add one',
      },
    ...mailServerProblems(facts),
    facts.administrators === 1 && {
      icon: 'users',
      text: canChange ? 'You are the only administrator' : 'There is only one administrator',
      detail: canChange
        ? 'If you lose access, no one can restore it. Add a second administrator.'
        : 'If they lose access, no one can restore it.',
      href: canChange ? '/users/new' : '/users?role=admin',
      action: canChange ? 'Add' : 'View',
    },
  ];
  return found.filter((item) => item !== false);
}
