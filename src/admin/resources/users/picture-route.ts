// The picture that a user gave: an administrator may remove it, and gives none.
import { type Account, type Accounts, toUser } from '../../../accounts/index.ts';
import type { Clock } from '../../../clock.ts';
import { defineRoutes, type RouteKit } from '../../api/define-resource.ts';
import { atVersion, idParams } from '../../api/shared.ts';
import { userSchema } from './schema.ts';

interface Ports {
  readonly accounts: Pick<Accounts, 'find'>;
  readonly removePicture: (account: Account) => Promise<void>;
  readonly clock: Clock;
}

export const userPicture = defineRoutes('Users', (on: RouteKit<Ports>) => ({
  removePicture: on.route({
    method: 'POST',
    path: '/users/{id}/remove-picture',
    summary: 'Remove the picture that a user gave',
    recorded: { event: 'avatar.removed', target: 'user', view: 'user' },
    params: idParams,
    success: { status: 200, schema: userSchema, hasVersion: true },
    async run({ params: { id }, ifVersion }, { accounts, removePicture, clock }) {
      const before = atVersion(await accounts.find(id), 'account.not_found', ifVersion);
      await removePicture(before);
      const after = atVersion(await accounts.find(id), 'account.not_found');
      return { data: toUser(after, clock()), version: after.version, before: toUser(before, clock()) };
    },
  }),
}));
