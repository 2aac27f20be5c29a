// The last refusals of an application in the admin API. Addresses are shown beside those that are registered now.
import { refusalRows } from '../../../model/refusals/refusals.ts';
import type { ClientRecord, RefusalEntry } from '../../../store/collections.ts';
import { array, integer, iso, object, string, stringOrNull, timestamp } from '../../api/schema-parts.ts';
import { textsOf } from '../../pages/field-values.ts';

const refusalSchema = object(
  {
    endpoint: string('Where it was refused, such as `authorization`, `token` or `logout`.'),
    cause: string('A stable code for the cause; `other`: none of the others.'),
    message: string('The cause in words.'),
    remedy: string('What to change.'),
    error: string('The OAuth error code.'),
    reason: stringOrNull('The reason as in the program log; may repeat a part of what was sent.'),
    address: stringOrNull(
      'The address that is not registered, without user name, password and query; null: it is about none.',
    ),
    registered: array(string(), 'The addresses that are registered now, where it is about one that is not.'),
    count: integer({ minimum: 1, description: 'How many requests were refused like this.' }),
    first_at: timestamp('When the first of them was refused.'),
    last_at: timestamp('When the last of them was refused.'),
  },
  'Requests that were refused for the same reason.',
);

export const refusalsSchema = object(
  { items: array(refusalSchema, 'The latest first; at most 20.') },
  'The refused requests of an application.',
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

export function showRefusal(entry: RefusalEntry, { metadata }: Pick<ClientRecord, 'metadata'>) {
  const { endpoint, error, reason, address, count, firstAt, lastAt } = entry;
  const registered =
    endpoint === 'logout' ? textsOf(metadata.post_logout_redirect_uris) : textsOf(metadata.redirect_uris);
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
