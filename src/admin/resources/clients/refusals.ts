// The last refusals of an application in the admin API. Addresses are shown beside those that are registered now.
import { Array as ArraySchema, Integer, Object as ObjectSchema, String as StringSchema } from 'typebox';
import type { ClientRecord, RefusalEntry } from '../../../store/collections.ts';
import { iso, nullable, strict, timestamp } from '../../api/schema-parts.ts';
import { explainRefusal } from './refusal-causes.ts';

const refusalSchema = ObjectSchema(
  {
    endpoint: StringSchema({ description: 'Such as authorization, token, logout.' }),
    cause: StringSchema({ description: 'A fixed word for the cause; other: none of them.' }),
    message: StringSchema({ description: 'The cause in words.' }),
    remedy: StringSchema({ description: 'What to change.' }),
    error: StringSchema({ description: 'The OAuth error code.' }),
    reason: nullable(StringSchema(), { description: 'As in the log; may repeat what was sent, cut.' }),
    address: nullable(StringSchema(), {
      description: 'The address that is not registered, without user, password and query.',
    }),
    registered: ArraySchema(StringSchema(), {
      description: 'The addresses that are registered now, if it is about one.',
    }),
    count: Integer({ minimum: 1, description: 'How many requests were refused like this.' }),
    first_at: timestamp(),
    last_at: timestamp(),
  },
  strict,
);

export const refusalsSchema = ObjectSchema({ items: ArraySchema(refusalSchema) }, strict);

const listOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

export function showRefusal(entry: RefusalEntry, { metadata }: Pick<ClientRecord, 'metadata'>) {
  const { endpoint, error, reason, address, count, firstAt, lastAt } = entry;
  const registered =
    endpoint === 'logout' ? listOf(metadata.post_logout_redirect_uris) : listOf(metadata.redirect_uris);
  return {
    endpoint,
    ...explainRefusal(entry),
    error,
    reason: reason ?? null,
    address: address ?? null,
    registered: address === undefined ? [] : registered,
    count,
    first_at: iso(firstAt),
    last_at: iso(lastAt),
  };
}
