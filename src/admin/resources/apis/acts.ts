// The acts on an API, and what each confirmation page says.

import type { ApiView } from '../../../apis/index.ts';
import { type PageText, phrase } from '../../../phrase.ts';
import { actPages, rotation } from '../../pages/acts.ts';
import type { Page } from '../../pages/page.ts';
import { apisCrumb, goToSecret, here } from './list-page.ts';
import { showApi } from './page.ts';
import { apis } from './resource.ts';

function consequences(api: ApiView): PageText[] {
  const machines = Object.keys(api.machine_grants).length;
  const names = api.scopes.map(({ name }) => name).join(', ');
  return [
    api.scopes.length === 0
      ? 'It has no scopes.'
      : api.scopes.length === 1
        ? phrase`Its one scope ends: ${names}.`
        : phrase`Its ${api.scopes.length} scopes end: ${names}.`,
    api.clients === 'all'
      ? 'No application gets tokens for it any more.'
      : api.clients.length === 1
        ? 'One application loses access to it.'
        : `${api.clients.length} applications lose access to it.`,
    ...(machines > 0
      ? [
          machines === 1
            ? 'What one application may do there without a user ends, too.'
            : `What ${machines} applications may do there without a user ends, too.`,
        ]
      : []),
    'Its tokens are revoked immediately. APIs that check JWTs without introspection accept them until they expire.',
    'Its introspection credentials stop working.',
    'An API created later under the same identifier is another: users are asked again.',
  ];
}

export const apiActPages: readonly Page[] = actPages<ApiView>(
  {
    here,
    crumbs: [apisCrumb],
    path: '/apis',
    read: async (context, id) => (await context.call(apis.read, { params: { id } })).data,
    nameOf: ({ name }) => name,
    showItem: showApi,
  },
  [
    rotation(
      ({ name }) => phrase`Rotate the introspection secret of ${name}?`,
      async (context, id, body) => {
        const { data } = await context.call(apis.rotateSecret, { params: { id }, body });
        await goToSecret(context, data, 'has a new secret');
      },
    ),
    {
      name: 'delete',
      run: (context, id) => context.call(apis.remove, { params: { id } }),
      notice: 'api-deleted',
      isEnd: true,
      ask: (api) => ({
        heading: phrase`Delete the API ${api.name}?`,
        consequences: consequences(api),
        button: 'Delete API',
        isDanger: true,
        typed: api.name,
      }),
    },
  ],
);
