import { parseEmail } from '../../../accounts/index.ts';
import type { FieldFilter } from '../../../store/port.ts';

/** @returns the filters of which one must match: the user has this address, primary or another */
export function withAddress(text: string): FieldFilter[][] {
  const key = parseEmail(text)?.key ?? '';
  const primary: FieldFilter = { field: 'email', op: 'eq', value: key };
  return key === ''
    ? [[primary]]
    : [[primary], [{ field: 'other_emails', op: 'contains', value: ` ${key} ` }]];
}
