// The members that people can write where the act alone does not say how sensitive it is, each with its sensitivity
// (decision 0011). A member has one, whatever route, form or import writes it: acts.ts says which acts go by these tables, and
// test/attacks/stale-administrator.test.ts compares them with what each route takes.

import { apiRows } from './apis/rows.ts';
import { memberRows } from './applications/rows.ts';
import { settingRows } from './applications/settings.ts';
import { newGroupRows } from './groups/rows.ts';
import type { Rows, Sensitivity } from './row.ts';
import { ownNames, userRows } from './users/rows.ts';

interface Member {
  readonly name: string;
  readonly sensitivity: Sensitivity;
  /** What something new has anyway: given there, they say nothing. */
  readonly initial?: readonly unknown[];
}

const plain = (...names: readonly string[]): readonly Member[] =>
  names.map((name) => ({ name, sensitivity: 'plain' }));

/** Something new has anyway what absence means. */
const byAdministrators = (rows: Rows): readonly Member[] =>
  Object.entries(rows)
    .filter(([, { setBy }]) => setBy !== 'server')
    .map(([name, { sensitivity, absent }]) => ({
      name,
      sensitivity,
      initial: absent === null ? [null, ''] : [absent],
    }));

export const MEMBERS = {
  user: byAdministrators(userRows),
  // Applications give access by these names.
  group: byAdministrators(newGroupRows()),
  client: byAdministrators({ ...memberRows, ...settingRows }),
  api: byAdministrators(apiRows),
  invitation: [
    ...plain('email', 'expires_in', 'client_id'),
    // Without a mail, its link is there to be read by who creates it.
    { name: 'send_mail', sensitivity: 'sensitive', initial: [true] },
  ],
  test_mail: plain('to', 'mail', 'language'),
  picture: plain('data', 'use'),
  /** Says which, and changes nothing of it. */
  user_reference: plain('user_id'),
  own_profile: ownNames.map((name) => ({ name, sensitivity: name === 'username' ? 'existing' : 'plain' })),
  own_picture: plain('file', 'crop_x', 'crop_y', 'crop_size'),
} as const satisfies Readonly<Record<string, readonly Member[]>>;

export type MemberTable = keyof typeof MEMBERS;

export const membersOf = (table: MemberTable): readonly Member[] => MEMBERS[table];
