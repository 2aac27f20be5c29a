// What a change of a client's metadata asks for, before it is validated.
import { AppError } from '../errors.ts';

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
    throw new AppError('client.invalid_metadata', { fields: { scope: problem } });
  }
  return { ...input, scope };
}
