// The labels of audit events, and the names of the users and items in them.

import { AppError } from '../../errors.ts';
import { deviceName } from '../../events/index.ts';
import { eventRow } from '../../model/events/events.ts';
import { WAYS } from '../../model/ways-to-sign-in.ts';
import { named, type PageText, Phrase, phrase } from '../../phrase.ts';
import { textOf } from '../pages/field-values.ts';
import { personName } from '../pages/format.ts';
import type { AdminContext, Values } from '../pages/page.ts';
import type { Name } from '../pages/parts.ts';
import { apiKeys } from './api-keys/resource.ts';
import { apis } from './apis/resource.ts';
import type { AuditEvent } from './audit/resource.ts';
import { clients } from './clients/resource.ts';
import { groupLabel } from './groups/choice.ts';
import { groups } from './groups/resource.ts';
import { sessions } from './sessions/resource.ts';
import { users } from './users/resource.ts';

const reasons: Readonly<Record<string, string>> = {
  unknown: 'user not found',
  wrong: 'wrong password',
  locked: 'account is locked',
  inactive: 'account is deactivated',
  code_wrong: 'wrong code',
  code_blocked: 'too many wrong codes',
  code_expired: 'code expired',
  invalid_grant: 'code or token not valid',
  invalid_client: 'wrong client credentials',
  'auth.invalid_token': 'bearer not valid',
  'auth.insufficient_scope': 'bearer without the scope',
};

const sentence = (name: string): string => {
  const text = name.replaceAll(/[._]/g, ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
};

/** Events of a later version of this product have no label here. */
export const eventLabel = (name: string): string => eventRow(name)?.label ?? sentence(name);

/** @param kind as in events. Each id is read once per page. */
export type NameOf = (kind: string, id: string) => Promise<Name>;

export function createNames(context: AdminContext): NameOf {
  async function read(kind: string, id: string): Promise<Name> {
    const params = { id };
    switch (kind) {
      case 'user': {
        const { data } = await context.call(users.read, { params });
        return { label: personName(data), href: `/users/${id}` };
      }
      case 'client': {
        const { data } = await context.call(clients.read, { params: { client_id: id } });
        return { label: textOf(data, 'client_name') || id, href: `/applications/${encodeURIComponent(id)}` };
      }
      case 'group': {
        const { data } = await context.call(groups.read, { params });
        return { label: groupLabel(data), href: `/groups/${id}` };
      }
      case 'api': {
        const { data } = await context.call(apis.read, { params });
        return { label: data.name, href: `/apis/${id}` };
      }
      case 'api_key': {
        const { data } = await context.call(apiKeys.read, { params });
        return { label: data.name, href: `/api-keys/${id}` };
      }
      case 'session': {
        const { data } = await context.call(sessions.read, { params });
        // By whose it is: a session has no name of its own.
        return { label: (await nameOf('user', data.user_id)).label, href: `/sessions/${id}` };
      }
      case 'bootstrap':
        return { label: 'ADMIN_TOKEN' };
      case 'system':
        return { label: 'Latchkey itself', isOurs: true };
      case 'anonymous':
        return { label: 'Anonymous', isOurs: true };
      default:
        return { label: id };
    }
  }

  /** A deleted user or item has only an id left. */
  async function find(kind: string, id: string): Promise<Name> {
    try {
      return await read(kind, id);
    } catch (error) {
      if (error instanceof AppError && error.status === 404) return { label: id };
      throw error;
    }
  }

  const known = new Map<string, Promise<Name>>();
  function nameOf(kind: string, id: string): Promise<Name> {
    const key = `${kind} ${id}`;
    const reading = known.get(key) ?? find(kind, id);
    known.set(key, reading);
    return reading;
  }
  return nameOf;
}

/** @param by `kind:id`, as what was saved has it: a person's name, else the id */
export async function byName(nameOf: NameOf, by: string): Promise<string> {
  const [kind = '', id = ''] = by.split(/:(.*)/s);
  return kind === 'user' ? (await nameOf(kind, id)).label : id;
}

const methodsOf = (used: readonly string[]): string =>
  used.map((name) => WAYS.find(({ id }) => id === name)?.label ?? name).join(' and ');

/** The reason, or the group that a user was added to or removed from; the methods of a sign-in; how often a limit was hit. */
function noteOf({ reason, details }: AuditEvent): PageText {
  const { group, methods: used, count, per }: Values = details ?? {};
  const parts: Phrase[] = [];
  if (reason) parts.push(new Phrase([reasons[reason] ?? reason.replaceAll('_', ' ')]));
  else if (typeof group === 'string') parts.push(named(group));
  if (Array.isArray(used)) parts.push(new Phrase([methodsOf(used.map(String))]));
  if (typeof count === 'number' && count > 0)
    parts.push(per === 'minute' ? phrase`${count} in this minute` : phrase`${count} in this hour`);
  return parts.length < 2 ? (parts[0] ?? '') : new Phrase(['', ...parts.slice(1).map(() => ', '), ''], parts);
}

/** As templates show an event. */
export const shownEvent = async (event: AuditEvent, nameOf: NameOf) => ({
  id: event.id,
  at: event.at,
  event: event.event,
  label: eventLabel(event.event),
  isFailure: event.outcome === 'failure',
  reason: noteOf(event),
  actor: await nameOf(event.actor_kind, event.actor_id ?? ''),
  target: event.target_id ? await nameOf(event.target_kind ?? '', event.target_id) : undefined,
  client: event.client_id ? await nameOf('client', event.client_id) : undefined,
  ip: event.ip_address ?? '',
  device: deviceName(event.user_agent ?? '').replace(/^Unknown$/, ''),
});

export const shownEvents = (events: readonly AuditEvent[], nameOf: NameOf) =>
  Promise.all(events.map((event) => shownEvent(event, nameOf)));
