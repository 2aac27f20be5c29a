// Whose e-mail addresses may sign up. Addresses come with their domain in ASCII (src/accounts/email.ts), the lists
// as the settings keep them: in ASCII and lower case, blanks between.

const entriesOf = (list: string): string[] => list.split(' ').filter((entry) => entry !== '');

const isBelow = (domain: string, parent: string): boolean => domain.endsWith(`.${parent}`);

/** `example.com` is that domain alone, `*.example.com` every one below it: who lets a domain in means that domain. */
const isListed = (domain: string, entry: string): boolean =>
  entry.startsWith('*.') ? isBelow(domain, entry.slice(2)) : domain === entry;

/** A blocked domain is blocked with all below it, or anybody who has it would make another one. */
const isShut = (domain: string, entry: string): boolean =>
  isListed(domain, entry) || (!entry.startsWith('*.') && isBelow(domain, entry));

/** @param address in its stored form. @returns whether the lists let it in; being blocked wins */
export function isDomainWelcome(address: string, lists: { allowed: string; blocked: string }): boolean {
  const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase();
  const allowed = entriesOf(lists.allowed);
  if (entriesOf(lists.blocked).some((entry) => isShut(domain, entry))) return false;
  return allowed.length === 0 || allowed.some((entry) => isListed(domain, entry));
}
