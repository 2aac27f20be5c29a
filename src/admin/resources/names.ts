// The labels of audit events, and the names of the users and items in them.
import { AppError } from '../../errors.ts';
import { deviceName, eventLabels } from '../../events/index.ts';
import { textOf } from '../pages/field-values.ts';
import type { AdminContext, Values } from '../pages/page.ts';
import type { Name } from '../pages/parts.ts';
import { apiKeys } from './api-keys/resource.ts';
import { groupLabel } from './groups/choice.ts';
import { groups } from './groups/resource.ts';

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

const labels: Readonly<Record<string, string>> = eventLabels;

/** Events of a later version of this product have no label here. */
export const eventLabel = (name: string): string => labels[name] ?? sentence(name);

/** @returns '' for an empty reason */
const reasonText = (reason: string): string => reasons[reason] ?? reason.replaceAll('_', ' ');

/** @param kind as in events. Each id is read once per page. */
export type NameOf = (kind: string, id: string) => Promise<Name>;

/** A deleted user or item has only an id left. */
async function orElse<T>(read: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof AppError && error.status === 404) return otherwise;
    throw error;
  }
}

export function createNames(context: AdminContext): NameOf {
  const known = new Map<string, Promise<Name>>();
  async function find(kind: string, id: string): Promise<Name> {
    if (kind === 'user') {
      const read = async (): Promise<Name> => {
        const { data } = await context.callByName('GET /users/{id}', { params: { id } });
        return { label: textOf(data, 'username'), href: `/users/${id}` };
      };
      return orElse(read, { label: id });
    }
    if (kind === 'client') {
      const read = async (): Promise<Name> => {
        const { data } = await context.callByName('GET /clients/{client_id}', { params: { client_id: id } });
        return { label: textOf(data, 'client_name') || id, href: `/applications/${id}` };
      };
      return orElse(read, { label: id });
    }
    if (kind === 'group') {
      const read = async (): Promise<Name> => {
        const { data } = await context.call(groups.read, { params: { id } });
        return { label: groupLabel(data), href: `/groups/${id}` };
      };
      return orElse(read, { label: id });
    }
    if (kind === 'api_key') {
      const read = async (): Promise<Name> => {
        const { data } = await context.call(apiKeys.read, { params: { id } });
        return { label: data.name, href: `/api-keys/${id}` };
      };
      return orElse(read, { label: id });
    }
    if (kind === 'bootstrap') return { label: 'ADMIN_TOKEN' };
    if (kind === 'system') return { label: 'Latchkey itself' };
    if (kind === 'anonymous') return { label: 'Anonymous' };
    return { label: id };
  }
  return (kind, id) => {
    const key = `${kind} ${id}`;
    const reading = known.get(key) ?? find(kind, id);
    known.set(key, reading);
    return reading;
  };
}

const methods: Readonly<Record<string, string>> = {
  password: 'password',
  email_link: 'e-mail link',
  totp: 'authenticator code',
  recovery: 'recovery code',
  email_code: 'e-mail code',
  passkey: 'passkey',
  security_key: 'security key',
};

/** For a sign-in: the authentication methods. */
function methodsOf({ details }: Values): string {
  const shown: unknown = Object.entries(Object(details)).find(([name]) => name === 'methods')?.[1];
  return Array.isArray(shown) ? shown.map((name) => methods[String(name)] ?? String(name)).join(' and ') : '';
}

/** For a rate limit: how often, within which time. */
function countOf({ details }: Values): string {
  const { count, per } =
    typeof details === 'object' && details !== null ? { count: 0, per: '', ...details } : {};
  return typeof count === 'number' && count > 0 ? `${count} in this ${per}` : '';
}

/** The group that a user was added to or removed from. */
const groupOf = ({ details }: Values): string =>
  typeof details === 'object' && details !== null ? textOf({ ...details }, 'group') : '';

export interface EventRow {
  readonly id: string;
  readonly at: string;
  readonly event: string;
  readonly label: string;
  readonly isFailure: boolean;
  readonly reason: string;
  readonly actor: Name;
  readonly target: Name | undefined;
  readonly client: Name | undefined;
  readonly ip: string;
  readonly device: string;
}

export const eventRows = (events: readonly Values[], nameOf: NameOf): Promise<readonly EventRow[]> =>
  Promise.all(
    events.map(async (event) => {
      const text = (name: string): string => textOf(event, name);
      const [kind, target] = [text('target_kind'), text('target_id')];
      return {
        id: text('id'),
        at: text('at'),
        event: text('event'),
        label: eventLabel(text('event')),
        isFailure: text('outcome') === 'failure',
        reason: [reasonText(text('reason')) || groupOf(event), methodsOf(event), countOf(event)]
          .filter(Boolean)
          .join(', '),
        actor: await nameOf(text('actor_kind'), text('actor_id')),
        target: target === '' ? undefined : await nameOf(kind, target),
        client: text('client_id') === '' ? undefined : await nameOf('client', text('client_id')),
        ip: text('ip_address'),
        device: deviceName(text('user_agent')).replace(/^Unknown$/, ''),
      };
    }),
  );
