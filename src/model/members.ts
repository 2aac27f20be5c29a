// The members that people can write where the act alone does not say how sensitive it is, each with its sensitivity
// (decision 0011). A member has one, whatever route, form or import writes it: acts.ts says which acts go by these tables, and
// test/attacks/stale-administrator.test.ts compares them with what each route takes.

/**
 * plain: never. sensitive: whenever it is given. existing: where it changes what is there: something new has nothing to take
 * over. address: as `existing`, and where it is an e-mail address (of a new user it is one that counts).
 */
export type MemberSensitivity = 'plain' | 'sensitive' | 'existing' | 'address';

interface Member {
  readonly name: string;
  readonly sensitivity: MemberSensitivity;
  /** What something new has anyway: given there, they say nothing. */
  readonly initial?: readonly unknown[];
}

const plain = (...names: readonly string[]): readonly Member[] =>
  names.map((name) => ({ name, sensitivity: 'plain' }));

export const MEMBERS = {
  user: [
    { name: 'username', sensitivity: 'address' },
    // Of a new user it opens nothing that was there before.
    { name: 'password', sensitivity: 'existing' },
    { name: 'email', sensitivity: 'sensitive', initial: [null, ''] },
    { name: 'other_emails', sensitivity: 'sensitive', initial: [] },
    { name: 'is_email_verified', sensitivity: 'sensitive', initial: [false] },
    { name: 'phone_number_verified', sensitivity: 'sensitive', initial: [false] },
    { name: 'role', sensitivity: 'sensitive', initial: ['user'] },
    { name: 'totp_verified', sensitivity: 'sensitive', initial: [false] },
    { name: 'is_active', sensitivity: 'sensitive', initial: [true] },
    ...plain('name', 'given_name', 'family_name', 'middle_name', 'nickname', 'profile', 'picture', 'website'),
    ...plain('gender', 'birthdate', 'zoneinfo', 'locale', 'address', 'phone_number'),
  ],
  // Applications give access by these names.
  group: [
    { name: 'name', sensitivity: 'existing' },
    { name: 'display_name', sensitivity: 'existing' },
    { name: 'description', sensitivity: 'existing' },
  ],
  invitation: [
    ...plain('email', 'expires_in', 'client_id'),
    // Without a mail, its link is there to be read by who creates it.
    { name: 'send_mail', sensitivity: 'sensitive', initial: [true] },
  ],
  test_mail: plain('to', 'mail', 'language'),
  picture: plain('data', 'use'),
  /** Says which, and changes nothing of it. */
  user_reference: plain('user_id'),
  own_profile: [
    { name: 'username', sensitivity: 'existing' },
    ...plain('given_name', 'family_name', 'name', 'nickname', 'locale', 'zoneinfo'),
  ],
  own_picture: plain('file', 'crop_x', 'crop_y', 'crop_size'),
} as const satisfies Readonly<Record<string, readonly Member[]>>;

export type MemberTable = keyof typeof MEMBERS;

export const membersOf = (table: MemberTable): readonly Member[] => MEMBERS[table];
