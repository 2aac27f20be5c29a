import type { ErrorRow } from './error-row.ts';

export const serverErrors = {
  'server.busy': {
    status: 503,
    message: 'Too many sign-ins at once. Try again in a moment.',
    cause: 'More password hashes wait than the cores can compute in time.',
    remedy: 'Retry after `Retry-After`. If it lasts, add web processes (docs/sizing.md).',
  },
  'server.unavailable': {
    status: 503,
    message: 'The service is temporarily unavailable. Try again in a moment.',
    cause: 'The store does not answer.',
    remedy: 'Retry after `Retry-After`. Operators: `/readyz` names the store that is down.',
  },
  'server.error': {
    status: 500,
    message: 'Something went wrong on our side.',
    cause: 'A bug or an unforeseen state.',
    remedy: 'Find the `request_id` of the answer in the log; report it with that entry.',
  },
} as const satisfies Readonly<Record<string, ErrorRow>>;
