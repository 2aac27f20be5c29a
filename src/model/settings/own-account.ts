// What people may do with their own accounts without an administrator.
import { flag, integer } from '../kinds.ts';
import { setting } from './setting.ts';

export const ownAccountSettings = {
  allow_username_change: setting(flag, {
    group: 'Own account',
    label: 'People may change their username',
    description:
      'Whether people can change their own username. The former one becomes free: applications that recognise people ' +
      'by it, and not by `sub`, may take its next owner for the former one.',
    absent: false,
    mayShutOut: false,
  }),
  allow_account_deletion: setting(flag, {
    group: 'Own account',
    label: 'People may delete their account',
    description: 'Whether people can delete their own account. The last administrator never can.',
    absent: true,
    mayShutOut: false,
    former: { since: 1, was: false },
  }),
  account_deletion_days: setting(integer(0, 90), {
    group: 'Own account',
    label: 'Deleting an account can be undone for',
    description:
      'How many days an account that its owner wants deleted is kept, unusable, so that the owner can undo it by signing ' +
      'in; 0: it is deleted at once.',
    absent: 14,
    mayShutOut: false,
    unit: 'days',
  }),
};
