// The JSON of a session: the record, with the names of its user, browser and applications.
import type { Static } from 'typebox';
import { deviceName } from '../../../events/index.ts';
import type { SessionRecord } from '../../../store/collections.ts';
import type { Stored } from '../../../store/port.ts';
import type { AdminPorts } from '../../api/ports.ts';
import {
  array,
  boolean,
  createdAt,
  iso,
  object,
  string,
  stringOrNull,
  timestamp,
  timestampOrNull,
} from '../../api/schema-parts.ts';

export const sessionSchema = object(
  {
    id: string('The ID of the session.'),
    user_id: string('The ID of its user.'),
    username: stringOrNull('The name of its user; null: the user was deleted.'),
    ip_address: string('The IP address that it was last used from.'),
    place: stringOrNull(
      'Where that address is, in English, such as “Berlin, Germany”; null: unknown, or there is no `GEOIP_FILE`.',
    ),
    user_agent: string('The `User-Agent` of its browser.'),
    device: string('The browser and system, for people.'),
    amr: array(string(), 'Authentication methods of the sign-in (RFC 8176).'),
    clients: array(
      object({
        client_id: string('The ID of the application.'),
        client_name: stringOrNull('Its name; null: it has none, or was deleted.'),
      }),
      'The applications that its user signed in to.',
    ),
    is_active: boolean('Whether it has neither ended nor expired.'),
    created_at: createdAt(),
    last_activity_at: timestamp('When it was last used.'),
    expires_at: timestamp('When it expires if it is not used.'),
    ended_at: timestampOrNull('When it was ended; null: it was not.'),
  },
  'An SSO session: a user who is signed in with a browser.',
);
export type Session = Static<typeof sessionSchema>;

/** Reads each account and each application once per response. */
export function createPresenter({ sessions, accounts, clients, placeOf }: AdminPorts) {
  const once = <T>(read: (id: string) => Promise<T>): ((id: string) => Promise<T>) => {
    const known = new Map<string, Promise<T>>();
    return (id) => {
      const reading = known.get(id) ?? read(id);
      known.set(id, reading);
      return reading;
    };
  };
  const usernameOf = once(async (id) => (await accounts.find(id))?.username ?? null);
  const clientNameOf = once(async (id) => {
    const name = (await clients.find(id))?.value.metadata.client_name;
    return typeof name === 'string' ? name : null;
  });
  return async ({ id, value }: Stored<SessionRecord>) => ({
    id,
    user_id: value.accountId,
    username: await usernameOf(value.accountId),
    ip_address: value.ipAddress,
    place: placeOf(value.ipAddress, 'en') ?? null,
    user_agent: value.userAgent,
    device: deviceName(value.userAgent),
    amr: value.amr,
    clients: await Promise.all(
      value.clientIds.map(async (clientId) => ({
        client_id: clientId,
        client_name: await clientNameOf(clientId),
      })),
    ),
    is_active: sessions.isActive(value),
    created_at: iso(value.createdAt),
    last_activity_at: iso(value.lastActivityAt),
    expires_at: iso(value.expiresAt),
    ended_at: value.endedAt === undefined ? null : iso(value.endedAt),
  });
}
