// Why a mail to a user could not be sent, or its link not used; the rules are in src/recovery/mailed-links.ts and
// src/registration/enrolment.ts. Each act says so in its place instead of being away.
import type { User } from '../../../accounts/index.ts';
import type { AdminContext } from '../../pages/page.ts';
import { hasMailServer, readSettings } from '../settings/read.ts';

const NO_ADDRESS = 'There is no e-mail address to send a link to.';
const DEACTIVATED = 'The account is deactivated: reactivate it first.';

/** Why none of them could be sent. */
const noMail = (user: User): string | undefined => {
  if (!user.email) return NO_ADDRESS;
  return user.is_active ? undefined : DEACTIVATED;
};

export async function mailedActsOf(context: AdminContext, user: User) {
  const settingOf = await readSettings(context);
  const noReset = (): string | undefined => {
    if (!user.is_email_verified) return 'The e-mail address is not verified: a link could reach a stranger.';
    const isOff = settingOf('auth_mode')?.value === 'passkey_only';
    return isOff ? 'Passwords are turned off in the settings.' : undefined;
  };
  const isKept = !hasMailServer(settingOf);
  const noVerification = (): string | undefined => {
    if (user.is_email_verified) return 'The e-mail address is verified already.';
    return isKept ? 'This server can’t send e-mail, and nothing else shows whose the mailbox is.' : undefined;
  };
  return {
    /** One reason for all of them: it is said once. */
    noMail: noMail(user),
    hasAddress: Boolean(user.email),
    noReset: noReset(),
    noVerification: noVerification(),
    /** Whether a mailed link is a way to sign in. */
    signsIn: user.is_email_verified && settingOf('allow_magic_link')?.value === true,
    // Their texts can be read there, and passed on.
    isKept,
  };
}
