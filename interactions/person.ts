// Who a page speaks of: by name, with the username beside it.
import { type Account, displayNameOf } from '../src/accounts/index.ts';
import type { Person } from '../src/views/index.ts';

export const personOf = ({
  username,
  profile,
  avatarId,
}: Pick<Account, 'username' | 'profile' | 'avatarId'>): Person => ({
  username,
  name: displayNameOf(profile),
  avatarId,
});
