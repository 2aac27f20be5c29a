// Which e-mail domains may sign up. Domains of addresses are in ASCII (src/accounts/email.ts); the settings store the
// lists in ASCII and lower case, separated by spaces.

const entriesOf = (list: string): string[] => list.split(' ').filter((entry) => entry !== '');

const isBelow = (domain: string, parent: string): boolean => domain.endsWith(`.${parent}`);

/**
 * `example.com` allows that domain only, `*.example.com` every subdomain: an allowed domain does not include others.
 */
const isListed = (domain: string, entry: string): boolean =>
  entry.startsWith('*.') ? isBelow(domain, entry.slice(2)) : domain === entry;

/** A blocked domain includes its subdomains, or its owner could evade the block with a new one. */
const isShut = (domain: string, entry: string): boolean =>
  isListed(domain, entry) || (!entry.startsWith('*.') && isBelow(domain, entry));

/** @param address in its stored form. @returns whether the lists allow it; blocking wins */
export function isDomainWelcome(address: string, lists: { allowed: string; blocked: string }): boolean {
  const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase();
  const allowed = entriesOf(lists.allowed);
  if (entriesOf(lists.blocked).some((entry) => isShut(domain, entry))) return false;
  return allowed.length === 0 || allowed.some((entry) => isListed(domain, entry));
}
