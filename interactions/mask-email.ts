// Owns showing an address to somebody who may not be its owner yet: enough to know the mailbox, not enough to learn it.

/** @returns like `a•••@e•••.com` */
export function maskEmail(address: string): string {
  const at = address.lastIndexOf('@');
  if (at < 1) return '•••';
  const domain = address.slice(at + 1);
  const dot = domain.lastIndexOf('.');
  const ending = dot > 0 ? domain.slice(dot) : '';
  return `${address.slice(0, 1)}•••@${domain.slice(0, 1)}•••${ending}`;
}
