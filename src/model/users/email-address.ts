// Which e-mail addresses are accepted, and when two are the same. Deliberately conservative: no
// quotes, comments, routes or non-ASCII local parts, so that every mail library reads the address in the same way.
import { domainToASCII } from 'node:url';
import { fold } from './fold.ts';

interface Email {
  /** As displayed and as mailed to: local part as typed, domain in ASCII (IDNA), which exposes look-alikes. */
  readonly address: string;
  /** What uniqueness and sign-in compare. */
  readonly key: string;
}

// RFC 5321 §4.5.3.1: 64 octets of local part; 254 is what fits into a forward path (RFC 3696 erratum 1690).
const MAX_LOCAL = 64;
const MAX_ADDRESS = 254;

// RFC 5322 §3.2.3 dot-atom. Both patterns run on bounded text, and no character fits two of their parts.
const dotAtom = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i;
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

const isDomain = (domain: string): boolean => {
  const labels = domain.split('.');
  const isLocalOrDotted = labels.length > 1 || domain === 'localhost';
  // An all-digit last label would be an IP address (RFC 1123 §2.1); domainToASCII also produces one from `0x7f.1`.
  return isLocalOrDotted && labels.every((part) => label.test(part)) && !/^\d+$/.test(labels.at(-1) ?? '');
};

/** @returns the address in its stored form and its key; undefined when it is not accepted */
export function parseEmail(text: string): Email | undefined {
  if (text.length > MAX_ADDRESS * 2) return undefined;
  const trimmed = text.trim();
  const [local, typedDomain, ...more] = trimmed.split('@');
  if (local === undefined || typedDomain === undefined || more.length > 0) return undefined;
  if (local.length > MAX_LOCAL || !dotAtom.test(local)) return undefined;
  // The URL parser behind domainToASCII drops tabs and line ends and decodes %-escapes, so none may reach it.
  if (/[\p{Cc}\p{Cf}\s%/\\?#:[\]]/u.test(typedDomain)) return undefined;
  const domain = domainToASCII(typedDomain);
  if (!isDomain(domain)) return undefined;
  const address = `${local}@${domain}`;
  return address.length > MAX_ADDRESS ? undefined : { address, key: fold(address) };
}
