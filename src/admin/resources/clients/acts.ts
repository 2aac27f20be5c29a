// The acts on an application, and what each confirmation page says.
import { actPages, type ItemAct, type Kind } from '../../pages/acts.ts';
import { numberOrText, textOf } from '../../pages/field-values.ts';
import type { AdminContext, Page, Values } from '../../pages/page.ts';
import { goToSecret } from './list-page.ts';
import { applicationName, showApplication } from './page.ts';

const by = (route: string, body?: Values) => (context: AdminContext, id: string) =>
  context.callByName(route, { params: { client_id: id }, ...(body && { body }) });

const kind: Kind<Values> = {
  here: 'applications',
  crumbs: [{ label: 'Applications', href: '/applications' }],
  path: '/applications',
  read: async (context, id) => (await by('GET /clients/{client_id}')(context, id)).data,
  nameOf: applicationName,
  showItem: showApplication,
};

const MAX_OVERLAP_HOURS = 720;

const acts: readonly ItemAct<Values>[] = [
  {
    name: 'rotate-secret',
    async run(context, id) {
      const hours = numberOrText(context.form.get('overlap_hours') ?? '0');
      const seconds = typeof hours === 'number' ? Math.min(hours, MAX_OVERLAP_HOURS) * 3600 : hours;
      const rotate = by('POST /clients/{client_id}/rotate-secret', { overlap_seconds: seconds });
      await goToSecret(context, (await rotate(context, id)).data, 'has a new secret');
    },
    notice: 'application-saved',
    isAnswered: true,
    ask: (client) => ({
      heading: `Rotate the secret of ${applicationName(client)}?`,
      consequences: [
        'A new secret is created and shown once.',
        'The current secret stops working after the time below.',
      ],
      button: 'Rotate secret',
      field: 'overlap',
    }),
  },
  {
    name: 'deactivate',
    run: by('PATCH /clients/{client_id}', { is_active: false }),
    notice: 'application-deactivated',
    ask: (client) => ({
      heading: `Deactivate ${applicationName(client)}?`,
      consequences: [
        'Users can no longer sign in to it.',
        'All its tokens are revoked immediately.',
        'Nothing is deleted; you can reactivate it.',
      ],
      button: 'Deactivate',
      isDanger: true,
    }),
  },
  {
    name: 'reactivate',
    run: by('PATCH /clients/{client_id}', { is_active: true }),
    notice: 'application-reactivated',
  },
  {
    name: 'delete',
    run: by('DELETE /clients/{client_id}'),
    notice: 'application-deleted',
    isEnd: true,
    ask: (client) => ({
      heading: `Delete ${applicationName(client)}?`,
      consequences: [
        'Its client ID and secret permanently stop working.',
        'All its grants, tokens and consents are deleted.',
        'Users can no longer sign in to it.',
      ],
      button: 'Delete application',
      isDanger: true,
      typed: textOf(client, 'client_name') || textOf(client, 'client_id'),
    }),
  },
];

export const applicationActPages: readonly Page[] = actPages(kind, acts);
