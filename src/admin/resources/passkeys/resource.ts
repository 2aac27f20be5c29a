import type { Passkey } from '../../../passkeys/index.ts';
import { passkeys as collection } from '../../../store/passkeys.ts';
import { defineResource } from '../../api/define-resource.ts';
import type { ListDefinition } from '../../api/list-query.ts';
import { Told } from '../../api/route.ts';
import {
  array,
  boolean,
  createdAt,
  iso,
  isoOrNull,
  object,
  string,
  stringOrNull,
  timestampOrNull,
} from '../../api/schema-parts.ts';
import { selectFew } from '../../api/select-few.ts';
import { userOf, userParams, userPasskeyParams } from '../../api/shared.ts';

const list: ListDefinition<Passkey> = {
  name: 'user-passkeys',
  // Listed from the account's credential ids, because the storage has no query for them.
  collection: {
    name: collection.name,
    durability: 'durable',
    indexes: {},
    fields: { created_at: { type: 'number', of: (passkey) => passkey.createdAt } },
  },
  sorts: ['created_at'],
  defaultOrder: 'desc',
  times: [],
};

const passkeySchema = object(
  {
    id: string('The credential ID.'),
    label: string('The name that its user gave it.'),
    authenticator: stringOrNull('The model, where the authenticator reports a known one.'),
    aaguid: string('The model as the authenticator reports it; all zeros: not reported.'),
    transports: array(
      string(),
      'How it can be reached, such as `internal`, `usb` or `hybrid` (WebAuthn §5.8.4).',
    ),
    is_synced: boolean('Whether it can be synced to other devices of its user.'),
    is_backed_up: boolean('Whether it is backed up or synced now.'),
    is_user_verified: boolean('Whether it verified its user when it was registered.'),
    is_second_factor_only: boolean('Whether it serves as a second factor only, after a password.'),
    counter_went_back_at: timestampOrNull(
      'When its signature counter decreased, so that it may have been cloned (WebAuthn §6.1.1); null: never.',
    ),
    created_at: createdAt(),
    last_used_at: timestampOrNull('When it was last used; null: never.'),
  },
  'A passkey.',
);

const show = (passkey: Passkey) => ({
  id: passkey.id,
  label: passkey.label,
  authenticator: passkey.authenticator ?? null,
  aaguid: passkey.aaguid,
  transports: [...passkey.transports],
  is_synced: passkey.isSynced,
  is_backed_up: passkey.isBackedUp,
  is_user_verified: passkey.isUserVerified,
  is_second_factor_only: passkey.kind === 'security_key',
  counter_went_back_at: isoOrNull(passkey.counterWentBackAt),
  created_at: iso(passkey.createdAt),
  last_used_at: isoOrNull(passkey.lastUsedAt),
});

export const passkeys = defineResource(
  {
    path: '/users/{id}/passkeys',
    tag: 'Users',
    target: 'passkey',
    view: passkeySchema,
    present: (items: readonly Passkey[]) => items.map(show),
  },
  (on) => ({
    list: on.list({
      summary: 'List the passkeys of a user',
      params: userParams,
      list,
      async query(wanted, ports, { params }) {
        const own = await ports.passkeys.list(await userOf(params.id, ports));
        return selectFew(own, list.collection.fields, wanted);
      },
      recordOf: (passkey) => passkey,
    }),
    remove: on.remove({
      path: '/users/{id}/passkeys/{passkey_id}',
      summary: 'Delete a passkey of a user',
      event: 'passkey.removed',
      isUnversioned: true,
      params: userPasskeyParams,
      async run({ params }, ports) {
        await ports.passkeys.removeAsAdmin(await userOf(params.id, ports), params.passkey_id);
        return new Told({ details: { user_id: params.id } });
      },
    }),
  }),
);
