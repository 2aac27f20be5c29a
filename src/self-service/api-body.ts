// Validates request bodies of the self-service API: small objects of strings, or of one object.
import { AppError, invalid } from '../errors.ts';
import { isMembers } from '../json.ts';

export type Body = Readonly<Record<string, string>>;

/**
 * The members of a body: exactly these, all strings; '' for an absent optional one.
 * @throws AppError request.malformed, request.invalid naming every invalid member
 */
export function membersOf(value: unknown, required: readonly string[], optional: readonly string[]): Body {
  if (!isMembers(value)) throw new AppError('request.malformed');
  const members = new Map<string, unknown>(Object.entries(value));
  const known = [...required, ...optional];
  const fields: Record<string, string> = {};
  for (const name of members.keys()) if (!known.includes(name)) fields[name.slice(0, 100)] = 'Unknown field.';
  for (const name of known) {
    const member = members.get(name);
    if (member === undefined && required.includes(name)) fields[name] = 'This field is required.';
    else if (member !== undefined && typeof member !== 'string') fields[name] = 'Must be a text.';
  }
  if (Object.keys(fields).length > 0) throw invalid(fields);
  return Object.fromEntries(known.map((name) => [name, String(members.get(name) ?? '')]));
}

/**
 * The members that a change has: of these, texts; null and '' clear.
 * @throws AppError request.malformed, request.invalid
 */
export function changesIn(value: unknown, names: readonly string[]): Body {
  const cleared = isMembers(value)
    ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, one === null ? '' : one]))
    : value;
  const members = membersOf(cleared, [], names);
  const given = new Set(Object.keys(Object(cleared)));
  return Object.fromEntries(Object.entries(members).filter(([name]) => given.has(name)));
}

/**
 * The only member of a body, an object; its members are not validated here.
 * @throws AppError request.malformed, request.invalid
 */
export function objectIn(value: unknown, name: string): object {
  if (!isMembers(value)) throw new AppError('request.malformed');
  const { [name]: member, ...others } = value;
  const fields: Record<string, string> = Object.fromEntries(
    Object.keys(others).map((other) => [other.slice(0, 100), 'Unknown field.']),
  );
  if (member === undefined) fields[name] = 'This field is required.';
  else if (!isMembers(member)) fields[name] = 'Must be an object.';
  if (!isMembers(member) || Object.keys(fields).length > 0) throw invalid(fields);
  return member;
}
