import { integer } from '../kinds.ts';
import { domains } from '../word-kinds.ts';
import { setting } from './setting.ts';

const DAY = 86_400;
const YEAR = 365 * DAY;

export const operationSettings = {
  key_rotation_seconds: setting(integer(0, 10 * YEAR), {
    group: 'Operation',
    label: 'A new signing key every',
    description:
      'How long a key signs tokens before a new one replaces it, in seconds; 0: never. A new key is published a ' +
      'quarter of an hour before it signs.',
    absent: 90 * DAY,
    mayShutOut: false,
    unit: 'seconds',
  }),
  purge_interval_seconds: setting(integer(10, DAY), {
    group: 'Operation',
    label: 'Expired records are removed every',
    description: 'How often expired records are removed, in seconds.',
    absent: 300,
    mayShutOut: false,
    unit: 'seconds',
  }),
  retention_sessions_seconds: setting(integer(0, 10 * YEAR), {
    group: 'Operation',
    label: 'Ended sessions are kept for',
    description: 'How long an ended session stays in the list, in seconds.',
    absent: 30 * DAY,
    mayShutOut: false,
    unit: 'seconds',
  }),
  // With a lower bound, so that whoever can change settings cannot erase the latest events.
  retention_audit_seconds: setting(integer(DAY, 10 * YEAR), {
    group: 'Operation',
    label: 'Events are kept for',
    description: 'How long events stay in the audit log, in seconds; token events have a separate setting.',
    absent: YEAR,
    mayShutOut: false,
    unit: 'seconds',
  }),
  retention_token_events_seconds: setting(integer(DAY, 10 * YEAR), {
    group: 'Operation',
    label: 'Token events are kept for',
    description:
      'How long token events (issued, refused, counts of refreshes) stay in the audit log, in seconds. A million take about 1.3 GB on the embedded store.',
    absent: 30 * DAY,
    mayShutOut: false,
    unit: 'seconds',
  }),
  webfinger_domains: setting(domains, {
    group: 'Operation',
    label: 'E-mail domains whose people sign in here',
    description:
      '/.well-known/webfinger (RFC 7033) names this server as the issuer for addresses of these domains, the same whether the ' +
      'person exists or not; some clients, such as Tailscale, ask there first. Empty: for none.',
    absent: '',
    mayShutOut: false,
  }),
};
