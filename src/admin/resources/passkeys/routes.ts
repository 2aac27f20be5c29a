// Owns the routes of a user's passkeys (decisions §6): which there are, and taking one away.
import {
  Array as ArraySchema,
  Boolean as BooleanSchema,
  Object as ObjectSchema,
  String as StringSchema,
} from 'typebox';
import type { Account } from '../../../accounts/index.ts';
import type { Clock } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import type { Passkey } from '../../../passkeys/passkeys.ts';
import { passkeys as collection } from '../../../store/passkeys.ts';
import type { Cursors } from '../../api/cursor.ts';
import { pageSchema } from '../../api/list.ts';
import { type ListDefinition, listQuerySchema, readListQuery } from '../../api/list-query.ts';
import { type Answer, defineRoute, type Route } from '../../api/route.ts';
import { nullable, timestamp } from '../../api/schema-parts.ts';
import { pageOfFew } from '../../api/select-few.ts';
import { idParams, userPasskeyParams } from '../../api/shared.ts';
import type { AccountsPort } from '../users/routes.ts';

export interface PasskeysPort {
  list(account: Account): Promise<Passkey[]>;
  /** @throws AppError passkey.not_found, passkey.last_admin */
  remove(account: Account, id: string): Promise<void>;
}

interface Deps {
  readonly passkeys: PasskeysPort;
  readonly accounts: Pick<AccountsPort, 'find'>;
  readonly cursors: Cursors;
  readonly clock: Clock;
}

const list: ListDefinition<Passkey> = {
  name: 'user-passkeys',
  // Read out of what the account names, which no query of the storage knows.
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

const passkeySchema = ObjectSchema(
  {
    id: StringSchema(),
    label: StringSchema(),
    authenticator: nullable(
      StringSchema({ description: 'Its model, as far as it says so and is well known.' }),
    ),
    aaguid: StringSchema(),
    transports: ArraySchema(StringSchema()),
    is_synced: BooleanSchema(),
    is_backed_up: BooleanSchema(),
    is_user_verified: BooleanSchema({ description: 'Whether it checked who holds it when it was made.' }),
    is_second_factor_only: BooleanSchema(),
    counter_went_back_at: nullable(timestamp()),
    created_at: timestamp(),
    last_used_at: nullable(timestamp()),
  },
  { additionalProperties: false },
);

const iso = (at: number): string => new Date(at).toISOString();
const isoOrNull = (at: number | undefined): string | null => (at === undefined ? null : iso(at));
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

const tag = 'Users';

export function passkeyRoutes({ passkeys, accounts, cursors, clock }: Deps): Route[] {
  const get = async (id: string): Promise<Account> => {
    const account = await accounts.find(id);
    if (account === undefined) throw new AppError('account.not_found');
    return account;
  };

  return [
    defineRoute({
      method: 'GET',
      path: '/users/{id}/passkeys',
      sensitivity: 'plain',
      tag,
      summary: "List a user's passkeys",
      params: idParams,
      query: listQuerySchema(list),
      success: { status: 200, schema: pageSchema(passkeySchema) },
      handle: async ({ params, query }) => {
        const own = await passkeys.list(await get(params.id));
        const request = readListQuery(list, query, clock());
        const page = await pageOfFew(own, { list, request, owner: params.id, cursors });
        return { data: { ...page, items: page.items.map(show) } };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/users/{id}/passkeys/{passkey_id}',
      sensitivity: 'sensitive',
      isUnversioned: true,
      tag,
      summary: 'Take a passkey away from a user',
      params: userPasskeyParams,
      success: { status: 204 },
      handle: async ({ params }): Promise<Answer<never> | undefined> => {
        await passkeys.remove(await get(params.id), params.passkey_id);
        return undefined;
      },
    }),
  ];
}
