// Account recovery: the tokens of mailed links (links.ts), requesting and sending links (mailed-links.ts, where to
// start), using them (use-links.ts), and recovery codes after the last passkey is lost (recovery-code.ts). A link
// shows control of a mailbox: it is neither a session nor a second factor. The pages are in
// interactions/mailed-links.ts and recover.ts.
import { arePasswordsOff } from '../settings/index.ts';
import * as model from '../store/collections.ts';
import type { RecoveryDoors } from './doors.ts';
import { createEmailChanges } from './email-changes.ts';
import { createEmailRequests } from './email-requests.ts';
import { createLinks, type Links } from './links.ts';
import { createMailedLinks, type MailedLinks } from './mailed-links.ts';
import type { EmailChanges } from './own-emails.ts';
import { createUseRecoveryCode, type UseRecoveryCode } from './recovery-code.ts';
import { createUseLinks, type UseLinks } from './use-links.ts';

export type { EmailChanges };

export interface Recovery extends MailedLinks, UseLinks, UseRecoveryCode {
  readonly links: Links;
  readonly emailChanges: EmailChanges;
  readonly canResetPassword: () => boolean;
  readonly canUseMagicLinks: () => boolean;
  readonly arePasswordsOff: () => boolean;
}

export function createRecovery(doors: RecoveryDoors): Recovery {
  const { store, clock, settings, events } = doors;
  const links = createLinks({
    collection: store.collection(model.links),
    accounts: store.collection(model.accounts),
    clock,
    settings,
  });
  events.on('accountRemoving', ({ accountId }) => links.removeAllOf(accountId));
  const emailChanges = createEmailChanges(doors, links, createEmailRequests(doors));
  return {
    links,
    emailChanges,
    ...createMailedLinks(doors, links, emailChanges.isStopped),
    ...createUseLinks(doors, links),
    ...createUseRecoveryCode(doors),
    arePasswordsOff: () => arePasswordsOff(settings()),
    canResetPassword: () => settings().allow_password_reset && !arePasswordsOff(settings()),
    canUseMagicLinks: () => settings().allow_magic_link && !arePasswordsOff(settings()),
  };
}
