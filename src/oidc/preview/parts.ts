// The parts of a preview that know nothing of its rules: tokens read back.
import { isMembers, parseJson } from '../../json.ts';

export type Members = Readonly<Record<string, unknown>>;

export interface PreviewedToken {
  readonly header: Members;
  readonly payload: Members;
}

/** The words of a scope. */
export const words = (scope: unknown): string[] =>
  typeof scope === 'string' ? [...new Set(scope.split(' ').filter(Boolean))] : [];

const membersOf = (part: string | undefined): Members => {
  const members = parseJson(Buffer.from(part ?? '', 'base64url').toString('utf8'));
  return isMembers(members) ? members : {};
};

/** Without what is of one token alone: it was never issued. */
const OF_ONE_TOKEN = ['jti', 'at_hash', 'sid', 'session_state'];
export const DIFFERS = '(differs in each token)';

export function decoded(jwt: unknown): PreviewedToken | undefined {
  const parts = typeof jwt === 'string' ? jwt.split('.') : [];
  // The third part is empty: nothing was signed.
  if (parts.length !== 3) return undefined;
  const payload = Object.entries(membersOf(parts[1])).map(([name, value]) => [
    name,
    OF_ONE_TOKEN.includes(name) ? DIFFERS : value,
  ]);
  return { header: membersOf(parts[0]), payload: Object.fromEntries(payload) };
}
