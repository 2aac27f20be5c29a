// A user's trusted browsers, which skip the second factor.
import { AppError } from '../../../errors.ts';
import type { TrustedDevice } from '../../../second-factors/index.ts';
import { defineResource } from '../../api/define-resource.ts';
import type { ListDefinition } from '../../api/list-query.ts';
import { Told } from '../../api/route.ts';
import { createdAt, expiresAt, iso, object, string, timestamp } from '../../api/schema-parts.ts';
import { selectFew } from '../../api/select-few.ts';
import { userDeviceParams, userOf, userParams } from '../../api/shared.ts';

const list: ListDefinition<TrustedDevice> = {
  name: 'user-trusted-devices',
  // Filtered by the domain to the valid ones, because the storage has no query for that.
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

const deviceSchema = object(
  {
    id: string('The ID of the trusted device.'),
    device: string('The browser and system, for people.'),
    ip_address: string('The IP address that it was last used from.'),
    user_agent: string('The `User-Agent` of its browser.'),
    created_at: createdAt(),
    last_used_at: timestamp('When it was last used.'),
    expires_at: expiresAt(),
  },
  'A browser in which the second factor is skipped.',
);

const show = (device: TrustedDevice) => ({
  id: device.id,
  device: device.label,
  ip_address: device.ipAddress,
  user_agent: device.userAgent,
  created_at: iso(device.createdAt),
  last_used_at: iso(device.lastUsedAt),
  expires_at: iso(device.expiresAt),
});

export const trustedDevices = defineResource(
  {
    path: '/users/{id}/trusted-devices',
    tag: 'Users',
    target: 'device',
    view: deviceSchema,
    present: (devices: readonly TrustedDevice[]) => devices.map(show),
  },
  (on) => ({
    list: on.list({
      summary: 'List the trusted devices of a user',
      params: userParams,
      list,
      async query(wanted, ports, { params }) {
        const devices = await ports.secondFactors.trustedDevices.list(await userOf(params.id, ports));
        return selectFew(devices, list.collection.fields, wanted);
      },
      recordOf: (device) => device,
    }),
    remove: on.remove({
      path: '/users/{id}/trusted-devices/{device_id}',
      summary: 'Revoke a trusted device: its browser must use the second factor again',
      event: 'device.revoked',
      isUnversioned: true,
      params: userDeviceParams,
      async run({ params }, ports) {
        const { id } = await userOf(params.id, ports);
        if (!(await ports.secondFactors.trustedDevices.revoke(id, params.device_id)))
          throw new AppError('request.not_found');
        // As where the owner does it: the browser is gone, and its id tells nobody anything.
        return new Told({ target: { kind: 'user', id }, details: { device_id: params.device_id } });
      },
    }),
  }),
);
