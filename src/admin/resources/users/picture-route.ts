// The picture that a user gave: an administrator may remove it, and gives none.
import { toUser } from '../../../accounts/index.ts';
import { defineRoutes } from '../../api/define-resource.ts';
import { atVersion, idParams } from '../../api/shared.ts';
import { userSchema } from './schema.ts';

export const userPicture = defineRoutes('Users', (on) => ({
  removePicture: on.route('POST /users/{id}/remove-picture', {
    summary: 'Remove the picture that a user gave',
    recorded: { event: 'avatar.removed', target: 'user', view: 'user' },
    params: idParams,
    answer: userSchema,
    hasVersion: true,
    async run({ params: { id }, ifVersion }, { accounts, avatars, clock }) {
      const before = atVersion(await accounts.find(id), 'account.not_found', ifVersion);
      await avatars.removeAsAdmin(before);
      const after = atVersion(await accounts.find(id), 'account.not_found');
      return { data: toUser(after, clock()), version: after.version, before: toUser(before, clock()) };
    },
  }),
}));
