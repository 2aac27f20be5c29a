// Estimates from its parameters how long a password hash takes to check, to bound imported hashes and to find the
// slowest stored kind. The figures were measured on one core of a small server.

const MIB = 1024 * 1024;
/** argon2: per KiB and pass. 19 MiB and two passes are 30 ms. */
const ARGON2_MS = 30 / 38_912;
/** bcrypt in JavaScript: per round, plus the thread that each check starts. */
const BCRYPT_MS = 0.1;
const BCRYPT_START_MS = 40;
/** scrypt: per MiB of 128·N·r·p. */
const SCRYPT_MS = 3;
/** PBKDF2: per iteration and block, and how many bytes of key a block gives (RFC 8018 §5.2). */
const PBKDF2: Readonly<Record<string, { readonly ms: number; readonly bytes: number }>> = {
  sha1: { ms: 0.000_26, bytes: 20 },
  sha256: { ms: 0.000_35, bytes: 32 },
  sha512: { ms: 0.000_5, bytes: 64 },
};

/** Iterations over all blocks of the key, because a long key multiplies the work. */
export const pbkdf2Work = (digest: string, iterations: number, keyLength: number): number =>
  iterations * Math.ceil(keyLength / (PBKDF2[digest]?.bytes ?? 20));

export const pbkdf2Ms = (digest: string, iterations: number, keyLength: number): number =>
  pbkdf2Work(digest, iterations, keyLength) * (PBKDF2[digest]?.ms ?? 1);

const numbersOf = (parameters: string): number[] =>
  parameters.split(',').map((part) => Number(part.slice(part.indexOf('=') + 1)));

/** @param hash as it is stored (foreign-hash.ts, password.ts) */
export function estimatedMs(hash: string): number {
  const [, kind = '', second = '', third = '', fourth = ''] = hash.split('$');
  if (kind.startsWith('argon2')) {
    const named = new Map(third.split(',').map((one) => [one.slice(0, 2), Number(one.slice(2))]));
    return (named.get('m=') ?? 0) * (named.get('t=') ?? 0) * ARGON2_MS;
  }
  if (kind.startsWith('2')) return BCRYPT_START_MS + 2 ** Number(second) * BCRYPT_MS;
  const numbers = numbersOf(second);
  if (kind === 'scrypt') {
    const [log2 = 0, r = 0, p = 0] = numbers;
    return ((128 * 2 ** log2 * r * p) / MIB) * SCRYPT_MS;
  }
  const [iterations = 0] = numbers;
  return pbkdf2Ms(kind.slice('pbkdf2-'.length), iterations, Buffer.from(fourth, 'base64').length);
}

const zeros = (text: string): string => 'A'.repeat(text.length);

/** @returns a hash of the same kind and parameters that matches no password and contains no user's data */
export function sampleOf(hash: string): string {
  const parts = hash.split('$');
  if (parts[1]?.startsWith('2')) return `$${parts[1]}$${parts[2]}$${'.'.repeat(53)}`;
  return [...parts.slice(0, -2), zeros(parts.at(-2) ?? ''), zeros(parts.at(-1) ?? '')].join('$');
}
