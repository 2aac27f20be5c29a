// All claims of an account (OIDC Core §5.1, decision 0009), by the rows of a user. Scopes and requested claims decide elsewhere which
// of them a client gets.
import { type Account, displayNameOf } from '../../accounts/index.ts';
import { pictureOf } from '../../avatars/index.ts';
import { isMembers } from '../../json.ts';
import type { Row } from '../../model/row.ts';
import type { UserFacts } from '../../model/users/facts.ts';
import { userRows } from '../../model/users/rows.ts';

/** Where the account has the value of each claim. */
const places = Object.values<Row<unknown> & UserFacts>(userRows).flatMap(({ claim, stored }) =>
  claim === null ? [] : [[claim.name, stored.split('.')] as const],
);

const memberOf = (holder: unknown, name: string): unknown => (isMembers(holder) ? holder[name] : undefined);

export function toClaims(account: Account, baseUrl: string): { sub: string; [claim: string]: unknown } {
  const claims: Record<string, unknown> = {};
  for (const [name, place] of places) {
    const value = place.reduce<unknown>(memberOf, account);
    if (value !== undefined) claims[name] = value;
  }
  const { id, email, phoneNumber, profile, username, updatedAt, role, groups = [] } = account;
  const picture = pictureOf(account, baseUrl);
  if (email === undefined) delete claims.email_verified;
  if (phoneNumber !== undefined) claims.phone_number_verified ??= false;
  else delete claims.phone_number_verified;
  return {
    ...claims,
    ...(picture !== undefined && { picture }),
    sub: id,
    // The scope `profile` promises `name` (decision 0009), so it falls back to what the account has.
    name: displayNameOf(profile) ?? username,
    // Epoch seconds (OIDC Core §5.1).
    updated_at: Math.floor(updatedAt / 1000),
    roles: [role],
    groups: [...groups],
  };
}
