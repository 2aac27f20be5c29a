/** @returns like `a•••@e•••.com`: enough for the owner to recognise the mailbox, too little for others to learn it */
export function maskEmail(address: string): string {
  const at = address.lastIndexOf('@');
  if (at < 1) return '•••';
  const domain = address.slice(at + 1);
  const dot = domain.lastIndexOf('.');
  const ending = dot > 0 ? domain.slice(dot) : '';
  return `${address.slice(0, 1)}•••@${domain.slice(0, 1)}•••${ending}`;
}
