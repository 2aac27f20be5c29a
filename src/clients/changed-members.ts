// What a change of a client's metadata asks for, before it is validated.
import { hasBareScheme } from '../model/uris.ts';
import type { ClientMetadata } from '../store/collections.ts';
import { refusal } from './application.ts';
import { calledAddresses } from './approved-addresses.ts';
import { isStringList, kinds } from './metadata-rules.ts';

/** @returns the stored members with the given ones in their place; null removes */
export function merged(
  stored: Readonly<Record<string, unknown>>,
  input: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const { client_id: _, ...members }: Record<string, unknown> = stored;
  // Derived from the grant types unless given.
  if (input.grant_types !== undefined && input.response_types === undefined) delete members.response_types;
  return { ...members, ...input };
}

/** @throws AppError client.invalid_metadata when the scopes exceed the stored ones */
export function withinScope(
  stored: Readonly<Record<string, unknown>>,
  input: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const scope = input.scope ?? stored.scope;
  const known = new Set(String(stored.scope ?? '').split(' '));
  if (typeof scope === 'string' && !scope.split(' ').every((word) => word === '' || known.has(word))) {
    const problem = 'Must not contain more than an administrator allowed this application.';
    throw refusal({ scope: problem });
  }
  return { ...input, scope };
}

const valuesOf = (value: unknown): readonly string[] =>
  isStringList(value) ? value : typeof value === 'string' ? value.split(' ') : [];

/** @returns what only an administrator can have allowed, which a registrant may keep */
export function reservedOf(metadata: ClientMetadata): ReadonlySet<string> {
  const uris = [metadata.redirect_uris, metadata.post_logout_redirect_uris].filter(isStringList).flat();
  return new Set([
    // A plain http address that an administrator entered.
    ...calledAddresses({ metadata }).map(({ uri }) => uri),
    ...uris.filter(hasBareScheme),
    ...kinds.flatMap(([name, { kind }]) => {
      const had = valuesOf(metadata[name]);
      return kind.closed?.filter((one) => had.includes(one)) ?? [];
    }),
  ]);
}
