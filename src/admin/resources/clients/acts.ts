// Owns what an administrator does to an application by a press: which acts there are, and what each says before it happens.
import { type Act, actPages, type Kind } from '../../pages/acts.ts';
import { numberOrText, textOf } from '../../pages/field-values.ts';
import type { Page } from '../../pages/page.ts';
import { goToSecret } from './list-page.ts';
import { applicationName, showApplication } from './page.ts';

const kind: Kind = {
  here: 'applications',
  label: 'Applications',
  path: '/applications',
  param: 'client_id',
  read: 'GET /clients/{client_id}',
  nameOf: applicationName,
  showThing: showApplication,
};

const MAX_OVERLAP_HOURS = 720;

const acts: readonly Act[] = [
  {
    name: 'rotate-secret',
    route: 'POST /clients/{client_id}/rotate-secret',
    notice: 'application-saved',
    body: ({ form }) => {
      const hours = numberOrText(form.get('overlap_hours') ?? '0');
      return {
        overlap_seconds: typeof hours === 'number' ? Math.min(hours, MAX_OVERLAP_HOURS) * 3600 : hours,
      };
    },
    ask: (client) => ({
      heading: `Rotate the secret of ${applicationName(client)}?`,
      consequences: [
        'A new secret is made and shown once.',
        'The present secret stops working when the time below is over.',
      ],
      button: 'Rotate secret',
      field: 'overlap',
    }),
    showResult: (visit, data) => goToSecret(visit, data, 'has a new secret'),
  },
  {
    name: 'deactivate',
    route: 'PATCH /clients/{client_id}',
    notice: 'application-deactivated',
    body: () => ({ is_active: false }),
    ask: (client) => ({
      heading: `Deactivate ${applicationName(client)}?`,
      consequences: [
        'Nobody can sign in to it any more.',
        'Every token it has been given ends now.',
        'Nothing is deleted; you can reactivate it.',
      ],
      button: 'Deactivate',
      isDanger: true,
    }),
  },
  {
    name: 'reactivate',
    route: 'PATCH /clients/{client_id}',
    notice: 'application-reactivated',
    body: () => ({ is_active: true }),
  },
  {
    name: 'delete',
    route: 'DELETE /clients/{client_id}',
    notice: 'application-deleted',
    isEnd: true,
    ask: (client) => ({
      heading: `Delete ${applicationName(client)}?`,
      consequences: [
        'Its client ID and secret stop working for good.',
        'Every grant, token and consent that it has is gone.',
        'People can no longer sign in to it.',
      ],
      button: 'Delete application',
      isDanger: true,
      typed: textOf(client, 'client_name') === '' ? 'client_id' : 'client_name',
    }),
  },
];

export const applicationActPages: readonly Page[] = actPages(kind, acts);
