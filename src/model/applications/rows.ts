// Every fact of an application (src/model/row.ts), in the order in which it is shown: metadata that it registers with, settings that
// administrators make, and what the server says of it.
import { datedRows } from '../dated-rows.ts';
import { choice } from '../kinds.ts';
import { time } from '../time-kinds.ts';
import { legacyRows } from './legacy.ts';
import { line } from './member-kinds.ts';
import { metadataRows } from './metadata.ts';
import { applicationKinds, byServer, fact } from './row.ts';
import { settingRows } from './settings.ts';

const serverRows = {
  client_id: fact(line(), {
    ...byServer,
    stored: 'metadata.client_id',
    absent: '',
    label: 'Client ID',
    description: 'Identifies the application.',
  }),
  kind: fact(choice(applicationKinds), {
    ...byServer,
    stored: 'kind',
    absent: 'openid',
    label: 'Kind',
    description: 'What it is: `openid`, a client of OpenID Connect.',
  }),
  client_type: fact(choice({ confidential: 'confidential', public: 'public' }), {
    ...byServer,
    kinds: ['openid'],
    stored: 'clientType',
    absent: 'confidential',
    isAlwaysStored: true,
    label: 'Client type',
    description:
      'Whether it authenticates at the token endpoint; `public`: `token_endpoint_auth_method` is `none`.',
  }),
  pkce_required_at: fact(time, {
    ...byServer,
    kinds: ['openid'],
    stored: 'pkceRequiredAt',
    absent: null,
    isSpecial: true,
    label: 'PKCE required since',
    description:
      'When PKCE became required because the application had used it 20 times in a row; null: it did not.',
  }),
  origin: fact(choice({ admin: 'Administrator', registration: 'Registered itself', seed: 'Built in' }), {
    ...byServer,
    stored: 'origin',
    absent: 'admin',
    isAlwaysStored: true,
    label: 'Origin',
    description:
      'How it was created: by an administrator, by dynamic registration, or with the installation (`seed`: this product itself).',
  }),
  quarantine: fact(choice({ registration: 'Registered itself', document: 'Metadata document' }), {
    ...byServer,
    stored: 'quarantine.by',
    absent: null,
    label: 'Quarantine',
    description:
      'How it came, if nobody vouched for it: by open registration, or by the metadata document whose address is its id. ' +
      'Such an application stays confined (docs/agents.md).',
  }),
  last_used_at: fact(time, {
    ...byServer,
    stored: 'quarantine.usedAt',
    absent: null,
    label: 'Last used',
    description:
      'Of an application with `quarantine`: the day on which it last got tokens, to within a day; of others null.',
  }),
  created_at: { ...datedRows.created_at, ...byServer, label: 'Added' },
  updated_at: { ...datedRows.updated_at, ...byServer, reported: 'nothing' },
} as const;

export const memberRows = { ...metadataRows, ...legacyRows } as const;

export const applicationRows = { ...memberRows, ...settingRows, ...serverRows } as const;
