// What people may do with their own accounts without an administrator.
import { flag, integer } from './definitions.ts';

export const selfServiceDefinitions = {
  allow_username_change: flag({
    group: 'Own account',
    default: false,
    description:
      'Whether people can change their own username. The former one becomes free: applications that recognise people ' +
      'by it, and not by `sub`, may take its next owner for the former one.',
  }),
  allow_account_deletion: flag({
    group: 'Own account',
    default: true,
    description: 'Whether people can delete their own account. The last administrator never can.',
  }),
  account_deletion_days: integer({
    group: 'Own account',
    default: 14,
    min: 0,
    max: 90,
    description:
      'How many days an account that its owner wants deleted is kept, unusable, so that the owner can undo it by signing ' +
      'in; 0: it is deleted at once.',
  }),
};
