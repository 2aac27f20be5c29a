// The acts on an application, and what each confirmation page says.

import type { ClientView } from '../../../clients/index.ts';
import { phrase } from '../../../phrase.ts';
import { actPages, type ItemAct, type Kind, rotation } from '../../pages/acts.ts';
import type { AdminContext, Page } from '../../pages/page.ts';

import { applicationName, showApplication } from './page.ts';
import { clients } from './resource.ts';
import { goToSecret } from './secret-page.ts';

const setActive = (isActive: boolean) => (context: AdminContext, id: string) =>
  context.call(clients.change, { params: { client_id: id }, body: { is_active: isActive } });

const kind: Kind<ClientView> = {
  here: 'applications',
  crumbs: [{ label: 'Applications', href: '/applications' }],
  path: '/applications',
  read: async (context, id) => (await context.call(clients.read, { params: { client_id: id } })).data,
  nameOf: applicationName,
  showItem: showApplication,
};

const acts: readonly ItemAct<ClientView>[] = [
  rotation(
    (client) => phrase`Rotate the secret of ${applicationName(client)}?`,
    async (context, id, body) => {
      const { data } = await context.call(clients.rotateSecret, { params: { client_id: id }, body });
      await goToSecret(context, data, { verb: 'has a new secret' });
    },
  ),
  {
    name: 'deactivate',
    run: setActive(false),
    notice: 'application-deactivated',
    undo: 'reactivate',
    ask: (client) => ({
      heading: phrase`Deactivate ${applicationName(client)}?`,
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
    run: setActive(true),
    notice: 'application-reactivated',
    undo: 'deactivate',
  },
  {
    name: 'delete',
    run: (context, id) => context.call(clients.remove, { params: { client_id: id } }),
    notice: 'application-deleted',
    isEnd: true,
    ask: (client) => ({
      heading: phrase`Delete ${applicationName(client)}?`,
      consequences: [
        'Its client ID and secret permanently stop working.',
        'All its grants, tokens and consents are deleted.',
        'Users can no longer sign in to it.',
      ],
      button: 'Delete application',
      isDanger: true,
      typed: applicationName(client),
    }),
  },
];

export const applicationActPages: readonly Page[] = actPages(kind, acts);
