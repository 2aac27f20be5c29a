// The list of applications.
import { drawnList } from '../../pages/list-page.ts';
import type { Page } from '../../pages/page.ts';
import { clients } from './resource.ts';
import { kindLabel } from './template-of.ts';

export const applicationListPages: readonly Page[] = [
  drawnList({
    path: '/applications',
    title: 'Applications',
    here: 'applications',
    template: 'applications',
    list: clients.list,
    chips: [
      { label: 'With a secret', set: { client_type: 'confidential' } },
      { label: 'Public', set: { client_type: 'public' } },
      { label: 'Agents', set: { is_quarantined: 'true' } },
      { label: 'Deactivated', set: { is_active: 'false' } },
    ],
    more: async () => ({ kindLabel }),
  }),
];
