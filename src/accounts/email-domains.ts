// Which e-mail domains people may sign up with, or add to their accounts. Domains of addresses are in ASCII (src/model/users/email-address.ts); the settings store the
// lists in ASCII and lower case, separated by spaces.
import { isListedDomain } from '../model/word-kinds.ts';
import type { SettingValues } from '../settings/index.ts';

const entriesOf = (list: string): string[] => list.split(' ').filter((entry) => entry !== '');

const isBelow = (domain: string, parent: string): boolean => domain.endsWith(`.${parent}`);

/** A blocked domain includes its subdomains, or its owner could evade the block with a new one. */
const isShut = (domain: string, entry: string): boolean =>
  isListedDomain(entry, domain) || (!entry.startsWith('*.') && isBelow(domain, entry));

/** @param address in its stored form. @returns whether the lists allow it; blocking wins */
export function isDomainWelcome(
  address: string,
  lists: Pick<SettingValues, 'signup_allowed_email_domains' | 'signup_blocked_email_domains'>,
): boolean {
  const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase();
  const allowed = lists.signup_allowed_email_domains;
  if (entriesOf(lists.signup_blocked_email_domains).some((entry) => isShut(domain, entry))) return false;
  return allowed === '' || isListedDomain(allowed, domain);
}
