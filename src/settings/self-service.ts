// What people may do with their own accounts without an administrator.
import { flag } from './definitions.ts';

export const selfServiceDefinitions = {
  allow_username_change: flag({
    group: 'Own account',
    default: false,
    description:
      'Whether people can change their own username. The former one becomes free: applications that recognise people ' +
      'by it, and not by `sub`, may take its next owner for the former one.',
  }),
};
