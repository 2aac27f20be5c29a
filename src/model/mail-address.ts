// Which addresses mail is sent from and to: only the plain stored form. Stricter than what users may type,
// so that no mail library can interpret an address differently.

const MAX_LOCAL = 64; // RFC 5321 §4.5.3.1.1
const MAX_ADDRESS = 254; // RFC 3696 erratum 1690

// RFC 5322 §3.2.3 dot-atom. Both patterns run on bounded text and cannot backtrack.
const dotAtom = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i;
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** @returns whether this is one address: ASCII, no quotes, comments, routes, names or IP addresses */
export function isMailAddress(text: string): boolean {
  if (text.length > MAX_ADDRESS) return false;
  const [local = '', domain = '', ...more] = text.split('@');
  if (more.length > 0 || local.length > MAX_LOCAL || !dotAtom.test(local)) return false;
  const labels = domain.split('.');
  const isLocalOrDotted = labels.length > 1 || domain === 'localhost';
  return isLocalOrDotted && labels.every((part) => label.test(part)) && !/^\d+$/.test(labels.at(-1) ?? '');
}
