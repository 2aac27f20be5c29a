// Converts a realm's users to lines for POST /admin/api/users/import.
import { listOf, type Members, membersOf, numberOf, textOf, textsOf } from './json.ts';
import type { GroupNames } from './names.ts';
import { passwordOf } from './password.ts';

/** Roles that every user has: no information. */
const isDefaultRole = (role: string): boolean =>
  role === 'offline_access' || role === 'uma_authorization' || role.startsWith('default-roles-');

function groupsOf(user: Members, names: GroupNames): string[] {
  const groups = textsOf(user.groups).map((path) =>
    names.nameOf(`group ${path}`, path.split('/').filter(Boolean), path.replace(/^\//, '')),
  );
  const roles = textsOf(user.realmRoles)
    .filter((role) => !isDefaultRole(role))
    .map((role) => names.nameOf(`role ${role}`, ['role', role], `Role ${role}`));
  const clientRoles = Object.entries(membersOf(user.clientRoles))
    .filter(([client]) => client !== 'account')
    .flatMap(([client, of]) =>
      textsOf(of).map((role) =>
        names.nameOf(`role ${client} ${role}`, ['role', client, role], `Role ${role} of ${client}`),
      ),
    );
  return [...new Set([...groups, ...roles, ...clientRoles])];
}

const attributeOf = (user: Members, name: string): string | undefined =>
  textOf(textsOf(membersOf(user.attributes)[name])[0]);

/** @returns the line with the known members only; roles never make a user an administrator */
function toRow(user: Members, username: string, names: GroupNames, note: (text: string) => void) {
  const password = passwordOf(user.credentials);
  if (password !== undefined && 'problem' in password) note(`user ${username}: ${password.problem}`);
  const others = listOf(user.credentials).filter(({ type }) => type !== 'password').length;
  if (others > 0) note(`user ${username}: ${others} second factor(s) or passkeys are not converted`);
  const createdAt = numberOf(user.createdTimestamp);
  const groups = groupsOf(user, names);
  const email = textOf(user.email);
  return {
    username,
    ...(email !== undefined && { email, is_email_verified: user.emailVerified === true }),
    ...(user.enabled === false && { is_active: false }),
    given_name: textOf(user.firstName),
    family_name: textOf(user.lastName),
    locale: attributeOf(user, 'locale'),
    phone_number: attributeOf(user, 'phoneNumber') ?? attributeOf(user, 'phone_number'),
    ...(createdAt !== undefined && { created_at: new Date(createdAt).toISOString() }),
    ...(groups.length > 0 && { groups }),
    ...(password !== undefined && 'hash' in password && { password_hash: password.hash }),
  };
}

/** So many are converted in a moment. */
const STEP = 1_000;

/** How many users are looked at. */
export interface Step {
  readonly done: number;
  readonly total: number;
}

/** @returns a line for each person; in between it says how far it is */
export function* toRows(
  realm: Members,
  names: GroupNames,
  note: (text: string) => void,
): Generator<Step, object[]> {
  const users = listOf(realm.users);
  const rows: object[] = [];
  for (const [done, user] of users.entries()) {
    if (done % STEP === 0) yield { done, total: users.length };
    const username = textOf(user.username);
    // A service account, not a person: it signs in with the client's own credentials.
    if (username === undefined || textOf(user.serviceAccountClientId) !== undefined) continue;
    rows.push(toRow(user, username, names, note));
  }
  return rows;
}
