import { flag, integer } from '../kinds.ts';
import { setting } from './setting.ts';

const DAY = 86_400;
const YEAR = 365 * DAY;

export const sessionsSettings = {
  session_idle_seconds: setting(integer(10, YEAR), {
    group: 'Sessions',
    label: 'Unused sessions end after',
    description: 'A session expires after this long without use, in seconds.',
    absent: 14_400,
    mayShutOut: true,
    unit: 'seconds',
  }),
  session_absolute_seconds: setting(integer(10, YEAR), {
    group: 'Sessions',
    label: 'Sessions end in any case after',
    description: 'A session expires after this long in any case, in seconds.',
    absent: 30 * DAY,
    mayShutOut: true,
    unit: 'seconds',
  }),
  refresh_extends_session: setting(flag, {
    group: 'Sessions',
    label: 'Use of an application counts as use of the session',
    description:
      'Whether a session stays in use while a first-party application of that browser refreshes its tokens, for at most 12 hours ' +
      'after the person was last here. Never for administrators.',
    absent: true,
    mayShutOut: false,
  }),
  admin_idle_seconds: setting(integer(60, DAY), {
    group: 'Sessions',
    label: 'An idle Admin UI asks to sign in after',
    description:
      'After this long without activity the Admin UI requires a new sign-in, in seconds. It accepts no older sign-in.',
    absent: 900,
    mayShutOut: false,
    unit: 'seconds',
  }),
  interaction_seconds: setting(integer(60, DAY), {
    group: 'Sessions',
    label: 'Time to complete a sign-in',
    description: 'How long a user has to complete a sign-in, in seconds.',
    absent: 3600,
    mayShutOut: true,
    unit: 'seconds',
  }),
};
