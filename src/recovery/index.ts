// Account recovery: the tokens of mailed links (links.ts), requesting and sending links (mailed-links.ts, where to
// start), using them (use-links.ts), and recovery codes after the last passkey is lost (recovery-code.ts). A link
// shows control of a mailbox: it is neither a session nor a second factor. The pages are in
// interactions/mailed-links.ts and recover.ts.
import type { Accounts, CompleteSignIn } from '../accounts/index.ts';
import type { Clock } from '../clock.ts';
import type { Events } from '../events/index.ts';
import type { Mail } from '../mail/index.ts';
import type { Passkeys } from '../passkeys/index.ts';
import type { RateLimits } from '../rate-limits/index.ts';
import type { SecondFactors } from '../second-factors/index.ts';
import { arePasswordsOff, type SettingValues } from '../settings/index.ts';
import * as model from '../store/collections.ts';
import type { Store } from '../store/port.ts';
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

export function createRecovery(deps: {
  store: Pick<Store, 'collection' | 'ephemeral'>;
  baseUrl: string;
  clock: Clock;
  settings: () => SettingValues;
  accounts: Pick<
    Accounts,
    | 'find'
    | 'findUsable'
    | 'findByLogin'
    | 'findByAddress'
    | 'changeOwnAccount'
    | 'endSessionsAsAdmin'
    | 'voidSignInsInProgress'
    | 'stopAddressChange'
    | 'isByOldWays'
    | 'findByFormerAddress'
  >;
  signIns: Pick<CompleteSignIn, 'knownBrowser'>;
  mail: Pick<Mail, 'canSend' | 'queue' | 'requests'>;
  secondFactors: Pick<SecondFactors, 'verifyAtSignIn' | 'trustedDevices'>;
  limits: Pick<RateLimits, 'consume' | 'isWithin'>;
  events: Pick<Events, 'record' | 'on' | 'origins' | 'emitAndWait'>;
  passkeys: Pick<Passkeys, 'list'>;
}): Recovery {
  const { store, clock, settings } = deps;
  const links = createLinks({
    collection: store.collection(model.links),
    accounts: store.collection(model.accounts),
    clock,
    settings,
  });
  deps.events.on('accountRemoving', ({ accountId }) => links.removeAllOf(accountId));
  const emailRequests = createEmailRequests({ ...deps, collection: store.collection(model.emailChanges) });
  const emailChanges = createEmailChanges({ ...deps, links, requests: emailRequests });
  return {
    links,
    emailChanges,
    ...createMailedLinks({ ...deps, links, isStopped: emailChanges.isStopped }),
    ...createUseLinks({ ...deps, links }),
    ...createUseRecoveryCode(deps),
    arePasswordsOff: () => arePasswordsOff(settings()),
    canResetPassword: () => settings().allow_password_reset && !arePasswordsOff(settings()),
    canUseMagicLinks: () => settings().allow_magic_link && !arePasswordsOff(settings()),
  };
}
