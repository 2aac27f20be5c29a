import { memberOf } from '../json.ts';

/** The user code that a form has, as it was made. Input methods type it in full width, which the library would drop. */
export function typedUserCode(params: unknown): string | undefined {
  const typed = memberOf(params, 'user_code');
  if (typeof typed !== 'string') return undefined;
  return typed.slice(0, 64).normalize('NFKC').toUpperCase().replace(/\W/g, '');
}
