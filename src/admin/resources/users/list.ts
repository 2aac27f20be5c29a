// The list of users: what it is searched, filtered and sorted by.
import { type Account, fold, groupNamePattern, memberFilter } from '../../../accounts/index.ts';
import { accounts as collection } from '../../../store/collections.ts';
import { lockedFilters, unlockedFilters } from '../../../store/locked-accounts.ts';
import { searchWords } from '../../../store/search-text.ts';
import { EXPECTED } from '../../api/expected.ts';
import type { ListDefinition } from '../../api/list-query.ts';
import { boolean, oneOf, string } from '../../api/schema-parts.ts';
import { withAddress } from './address-filter.ts';

/** What `search` looks into, in every list of users. */
export const searchedUsers = {
  searches: [
    'username',
    'email',
    'other_emails',
    'name',
    'given_name',
    'middle_name',
    'family_name',
    'nickname',
  ],
  searchedBy: { field: 'names', wordsOf: searchWords },
} as const;

export const userList: ListDefinition<Account> = {
  name: 'users',
  collection,
  sorts: ['created_at', 'updated_at', 'last_login_at', 'name', 'username', 'email', 'role', 'id'],
  defaultOrder: 'desc',
  ...searchedUsers,
  filters: {
    role: { schema: oneOf(['user', 'auditor', 'admin'], 'Only users with this role.') },
    group: {
      schema: string({
        pattern: groupNamePattern,
        [EXPECTED]: 'the name of a group',
        description: 'Only members of this group.',
      }),
      toGroups: (name) => [[memberFilter(String(name))]],
    },
    // Exact match, ignoring case, for callers that know the name. `search` finds parts.
    username: {
      schema: string({
        minLength: 1,
        maxLength: 512,
        description: 'Only the user with this username, ignoring case.',
      }),
      toGroups: (name) => [[{ field: 'username', op: 'eq', value: fold(String(name)) }]],
    },
    email: {
      schema: string({
        minLength: 1,
        maxLength: 512,
        description: 'Only the user with this e-mail address, primary or another, ignoring case.',
      }),
      toGroups: (text) => withAddress(String(text)),
    },
    is_active: { schema: boolean('Only users who are active, or who are not.') },
    is_email_verified: {
      schema: boolean('Only users whose e-mail address is verified, or is not.'),
    },
    totp_verified: {
      schema: boolean('Only users who have enrolled an authenticator app, or who have not.'),
    },
    has_second_factor: {
      schema: boolean('Only users who have an authenticator app or a passkey, or who have neither.'),
      toGroups: (has) =>
        has === true
          ? [
              [{ field: 'totp_verified', op: 'eq', value: true }],
              [
                { field: 'totp_verified', op: 'eq', value: false },
                { field: 'passkey_count', op: 'gte', value: 1 },
              ],
            ]
          : [
              [
                { field: 'totp_verified', op: 'eq', value: false },
                { field: 'passkey_count', op: 'lte', value: 0 },
              ],
            ],
    },
    has_signed_in: {
      schema: boolean('Only users who have signed in at least once, or never.'),
      toGroups: (has) => [[{ field: 'last_login_at', op: has === true ? 'present' : 'absent' }]],
    },
    is_locked: {
      schema: boolean('Only users who are locked now, or who are not.'),
      toGroups: (isLocked, now) =>
        isLocked === true ? [lockedFilters(now)] : unlockedFilters(now).map((filter) => [filter]),
    },
  },
  times: ['created_at', 'updated_at', 'last_login_at'],
};
