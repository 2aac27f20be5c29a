// Owns the routes of a user's trusted browsers (decisions §6): which need not give the second factor, and the end of that.
import { Object as ObjectSchema, String as StringSchema } from 'typebox';
import type { Account } from '../../../accounts/index.ts';
import type { Clock } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import type { TrustedDevice, TrustedDevices } from '../../../second-factors/trusted-devices.ts';
import type { Cursors } from '../../api/cursor.ts';
import { pageSchema } from '../../api/list.ts';
import { type ListDefinition, listQuerySchema, readListQuery } from '../../api/list-query.ts';
import { type Answer, defineRoute, type Route } from '../../api/route.ts';
import { timestamp } from '../../api/schema-parts.ts';
import { pageOfFew } from '../../api/select-few.ts';
import { idParams, userDeviceParams } from '../../api/shared.ts';
import type { AccountsPort } from '../users/routes.ts';

export type TrustedDevicesPort = Pick<TrustedDevices, 'list' | 'revoke'>;

interface Deps {
  readonly trustedDevices: TrustedDevicesPort;
  readonly accounts: Pick<AccountsPort, 'find'>;
  readonly cursors: Cursors;
  readonly clock: Clock;
}

const list: ListDefinition<TrustedDevice> = {
  name: 'user-trusted-devices',
  // Read out of what the domain says still counts, which no query of the storage knows.
  collection: {
    name: 'trusted_devices',
    durability: 'durable',
    indexes: {},
    fields: {
      last_used_at: { type: 'number', of: (device) => device.lastUsedAt },
      created_at: { type: 'number', of: (device) => device.createdAt },
    },
  },
  sorts: ['last_used_at', 'created_at'],
  defaultOrder: 'desc',
  times: [],
};

const deviceSchema = ObjectSchema(
  {
    id: StringSchema(),
    device: StringSchema({ description: 'The browser in words.' }),
    ip_address: StringSchema(),
    user_agent: StringSchema(),
    created_at: timestamp(),
    last_used_at: timestamp(),
    expires_at: timestamp(),
  },
  { additionalProperties: false },
);

const iso = (at: number): string => new Date(at).toISOString();
const show = (device: TrustedDevice) => ({
  id: device.id,
  device: device.label,
  ip_address: device.ipAddress,
  user_agent: device.userAgent,
  created_at: iso(device.createdAt),
  last_used_at: iso(device.lastUsedAt),
  expires_at: iso(device.expiresAt),
});

const tag = 'Users';

export function trustedDeviceRoutes({ trustedDevices, accounts, cursors, clock }: Deps): Route[] {
  const get = async (id: string): Promise<Account> => {
    const account = await accounts.find(id);
    if (account === undefined) throw new AppError('account.not_found');
    return account;
  };

  return [
    defineRoute({
      method: 'GET',
      path: '/users/{id}/trusted-devices',
      sensitivity: 'plain',
      tag,
      summary: 'List the browsers in which a user is not asked for the second factor',
      params: idParams,
      query: listQuerySchema(list),
      success: { status: 200, schema: pageSchema(deviceSchema) },
      handle: async ({ params, query }) => {
        const devices = await trustedDevices.list(await get(params.id));
        const request = readListQuery(list, query, clock());
        const page = await pageOfFew(devices, { list, request, owner: params.id, cursors });
        return { data: { ...page, items: page.items.map(show) } };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/users/{id}/trusted-devices/{device_id}',
      sensitivity: 'plain',
      isUnversioned: true,
      tag,
      summary: 'Have a browser asked for the second factor again',
      params: userDeviceParams,
      success: { status: 204 },
      handle: async ({ params }): Promise<Answer<never> | undefined> => {
        const { id } = await get(params.id);
        if (!(await trustedDevices.revoke(id, params.device_id))) throw new AppError('request.not_found');
        return undefined;
      },
    }),
  ];
}
