// The last refusals of an application in the admin API. Addresses are shown beside those that are registered now.
import { Array as ArraySchema, Integer, Object as ObjectSchema, String as StringSchema } from 'typebox';
import { refusalRows } from '../../../model/refusals/refusals.ts';
import type { ClientRecord, RefusalEntry } from '../../../store/collections.ts';
import { iso, nullable, strict, timestamp } from '../../api/schema-parts.ts';

const refusalSchema = ObjectSchema(
  {
    endpoint: StringSchema({
      description: 'Where it was refused, such as `authorization`, `token` or `logout`.',
    }),
    cause: StringSchema({ description: 'A stable code for the cause; `other`: none of the others.' }),
    message: StringSchema({ description: 'The cause in words.' }),
    remedy: StringSchema({ description: 'What to change.' }),
    error: StringSchema({ description: 'The OAuth error code.' }),
    reason: nullable(StringSchema(), {
      description: 'The reason as in the program log; may repeat a part of what was sent.',
    }),
    address: nullable(StringSchema(), {
      description:
        'The address that is not registered, without user name, password and query; null: it is about none.',
    }),
    registered: ArraySchema(StringSchema(), {
      description: 'The addresses that are registered now, where it is about one that is not.',
    }),
    count: Integer({ minimum: 1, description: 'How many requests were refused like this.' }),
    first_at: timestamp('When the first of them was refused.'),
    last_at: timestamp('When the last of them was refused.'),
  },
  { ...strict, description: 'Requests that were refused for the same reason.' },
);

export const refusalsSchema = ObjectSchema(
  { items: ArraySchema(refusalSchema, { description: 'The latest first; at most 20.' }) },
  { ...strict, description: 'The refused requests of an application.' },
);

/** The first row that fits; the last one always does. */
export function explainRefusal({ error, reason = '' }: Pick<RefusalEntry, 'error' | 'reason'>) {
  for (const { cause, errors, details, reason: pattern, words, remedy } of refusalRows) {
    const isMeant = errors?.includes(error) ?? true;
    const match = pattern?.exec(reason);
    const isSaid = details?.includes(reason) === true || !!match || (details ?? pattern) === undefined;
    if (isMeant && isSaid)
      return { cause, message: words.replace('$1', () => match?.[1] ?? '').trim(), remedy };
  }
  throw new TypeError('the last row has no conditions');
}

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
