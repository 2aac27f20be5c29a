// Password hashes of other systems: bcrypt, scrypt, PBKDF2, and argon2 with any parameters. The import parses and
// bounds them, so that no stored hash costs more than a sign-in may. A successful sign-in replaces them (password.ts,
// authenticate.ts).
import { createHash, pbkdf2, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';

import { pbkdf2Ms, pbkdf2Work } from './hash-work.ts';

export type ReadHash = { readonly hash: string } | { readonly problem: string };

const KIB = 1024;
/** About two seconds of one core each: enough for the slowest of today's recommendations. */
const bounds = {
  argon2: { memoryKib: 262_144, passes: 20, work: 1_048_576, lanes: 16 },
  bcrypt: { lowest: 4, highest: 14 },
  scrypt: { memoryBytes: 128 * KIB * KIB, lanes: 16, work: 512 * KIB * KIB },
  pbkdf2: { work: 2_000_000, ms: 1000 },
} as const;

const base64 = /^[A-Za-z0-9+/]+={0,2}$/;
const digests: Readonly<Record<string, string>> = {
  '': 'sha1',
  sha1: 'sha1',
  sha256: 'sha256',
  sha512: 'sha512',
};

/** Passlib writes `.` for `+`, others the alphabet for URLs (RFC 4648 §5). */
const bytesOf = (text: string): Buffer | undefined => {
  const plain = text.replaceAll(/[.-]/g, '+').replaceAll('_', '/');
  return base64.test(plain) ? Buffer.from(plain, 'base64') : undefined;
};
const keyOf = (text: string, hex?: string): Buffer | undefined =>
  hex === undefined ? bytesOf(text) : Buffer.from(hex, 'hex');
const textOf = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
const isWithin = (value: number, low: number, high: number): boolean =>
  Number.isSafeInteger(value) && value >= low && value <= high;
const isSalt = (salt: Buffer | undefined): salt is Buffer =>
  salt !== undefined && isWithin(salt.length, 4, 128);
const isKey = (key: Buffer | undefined): key is Buffer => key !== undefined && isWithin(key.length, 16, 128);

const unreadable: ReadHash = { problem: 'The hash is damaged: its salt or digest cannot be read.' };

function readArgon2(text: string): ReadHash {
  const parts = /^(\$argon2(?:id|i|d)\$v=(?:16|19))\$([^$]+)\$([^$]+)\$([^$]+)$/.exec(text);
  const [, kind, parameters = '', saltText = '', keyText = ''] = parts ?? [];
  // Libraries differ in the order of parameters.
  const named = new Map(parameters.split(',').map((one) => [one.slice(0, 2), Number(one.slice(2))]));
  if (parts === null || !/^[mtp]=\d+,[mtp]=\d+,[mtp]=\d+$/.test(parameters) || named.size !== 3) {
    return { problem: 'Must be an argon2 hash with v, m, t and p.' };
  }
  const [memoryKib = 0, passes = 0, lanes = 0] = ['m=', 't=', 'p='].map((name) => named.get(name));
  const most = bounds.argon2;
  const isCheap =
    isWithin(lanes, 1, most.lanes) &&
    isWithin(memoryKib, 8 * lanes, most.memoryKib) &&
    isWithin(passes, 1, most.passes) &&
    memoryKib * passes <= most.work;
  if (!isCheap)
    return {
      problem: `Costs too much: m up to ${most.memoryKib}, t up to ${most.passes}, m·t up to ${most.work}, p up to ${most.lanes}.`,
    };
  const [salt, key] = [bytesOf(saltText), bytesOf(keyText)];
  if (!isSalt(salt) || !isKey(key)) return unreadable;
  return { hash: `${kind}$${parameters}$${textOf(salt)}$${textOf(key)}` };
}

function readBcrypt(text: string): ReadHash {
  const parts = /^\$2[aby](?:-sha256)?\$(\d\d)\$[./A-Za-z0-9]{53}$/.exec(text);
  if (parts === null) return { problem: 'Must be a bcrypt hash such as $2b$10$ and 53 characters.' };
  const { lowest, highest } = bounds.bcrypt;
  if (!isWithin(Number(parts[1]), lowest, highest)) {
    return { problem: `Costs too much or nothing: a bcrypt cost from ${lowest} to ${highest} is taken.` };
  }
  return { hash: text };
}

function toScrypt(log2: number, r: number, p: number, salt?: Buffer, key?: Buffer): ReadHash {
  const most = bounds.scrypt;
  const n = 2 ** log2;
  const isCheap =
    isWithin(log2, 1, 24) &&
    isWithin(r, 1, 64) &&
    isWithin(p, 1, most.lanes) &&
    128 * n * r <= most.memoryBytes &&
    128 * n * r * p <= most.work;
  if (!isCheap)
    return { problem: 'Costs too much: scrypt is taken up to 128 MiB (128·N·r), 512 MiB over all lanes.' };
  if (!isSalt(salt) || !isKey(key)) return unreadable;
  return { hash: `$scrypt$ln=${log2},r=${r},p=${p}$${textOf(salt)}$${textOf(key)}` };
}

function readScrypt(text: string): ReadHash {
  const phc = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/.exec(text);
  if (phc !== null) {
    const [, ln, r, p, salt = '', key = ''] = phc;
    return toScrypt(Number(ln), Number(r), Number(p), bytesOf(salt), bytesOf(key));
  }
  // Django and Werkzeug: the salt is text.
  const django = /^scrypt\$(?<n>\d+)\$(?<salt>[^$]+)\$(?<r>\d+)\$(?<p>\d+)\$(?<key>[^$]+)$/.exec(text);
  const werkzeug = /^scrypt:(?<n>\d+):(?<r>\d+):(?<p>\d+)\$(?<salt>[^$]+)\$(?<hex>[0-9a-f]+)$/.exec(text);
  const found = (django ?? werkzeug)?.groups;
  if (found === undefined) return { problem: 'Must be a scrypt hash with ln, r and p.' };
  const { n, r, p, salt = '', key = '', hex } = found;
  return toScrypt(Math.log2(Number(n)), Number(r), Number(p), Buffer.from(salt), keyOf(key, hex));
}

function toPbkdf2(digest: string | undefined, iterations: number, salt?: Buffer, key?: Buffer): ReadHash {
  if (digest === undefined) return { problem: 'Must be PBKDF2 with sha1, sha256 or sha512.' };
  if (!isSalt(salt) || !isKey(key)) return unreadable;
  const { work, ms } = bounds.pbkdf2;
  const isCheap =
    isWithin(iterations, 1, work) &&
    pbkdf2Work(digest, iterations, key.length) <= work &&
    pbkdf2Ms(digest, iterations, key.length) <= ms;
  if (!isCheap)
    return {
      problem: `Costs too much or nothing: PBKDF2 is taken up to ${work} iterations, counted for each block of the key (20 bytes with sha1, 32 with sha256, 64 with sha512).`,
    };
  return { hash: `$pbkdf2-${digest}$i=${iterations}$${textOf(salt)}$${textOf(key)}` };
}

const digestOf = (name: string): string | undefined =>
  Object.hasOwn(digests, name) ? digests[name] : undefined;

function readPbkdf2(text: string): ReadHash {
  const modular = /^\$pbkdf2(?:-(\w+))?\$(?:i=)?(\d+)(?:,l=\d+)?\$([^$]+)\$([^$]+)$/.exec(text);
  if (modular !== null) {
    const [, name = '', iterations, salt = '', key = ''] = modular;
    return toPbkdf2(digestOf(name), Number(iterations), bytesOf(salt), bytesOf(key));
  }
  // Django and Werkzeug: the salt is text.
  const django = /^pbkdf2_(?<name>\w+)\$(?<iterations>\d+)\$(?<salt>[^$]+)\$(?<key>[^$]+)$/.exec(text);
  const werkzeug = /^pbkdf2:(?<name>\w+):(?<iterations>\d+)\$(?<salt>[^$]+)\$(?<hex>[0-9a-f]+)$/.exec(text);
  const found = (django ?? werkzeug)?.groups;
  if (found === undefined) return { problem: 'Must be a PBKDF2 hash with its iterations.' };
  const { name = '', iterations, salt = '', key = '', hex } = found;
  return toPbkdf2(digestOf(name), Number(iterations), Buffer.from(salt), keyOf(key, hex));
}

/** What Django, Spring and Dovecot write before hashes of the usual form. */
const prefix = /^(?:argon2|bcrypt\$|\{(?:bcrypt|blf-crypt|crypt|argon2(?:id?)?)\})(?=\$)/i;

/** @returns the hash in its stored form, or what is wrong with it */
export function readPasswordHash(written: string): ReadHash {
  if (written.length > 512) return { problem: 'Must have at most 512 characters.' };
  // Django's bcrypt_sha256 hashes the hex digits of a digest.
  const text = written.replace(prefix, '').replace(/^bcrypt_sha256\$(\$2\w)/, '$1-sha256');
  if (text.startsWith('$argon2')) return readArgon2(text);
  if (text.startsWith('$2')) return readBcrypt(text);
  if (/^\$?scrypt[$:]/.test(text)) return readScrypt(text);
  if (/^\$?pbkdf2/.test(text)) return readPbkdf2(text);
  return { problem: 'Must be a hash of argon2, bcrypt, scrypt or PBKDF2 in its usual form.' };
}

/** Whether only this file can check the hash. */
export const isForeignHash = (stored: string): boolean =>
  /^\$(?:2[aby](?:-sha256)?|scrypt|pbkdf2-\w+)\$/.test(stored);

const derivePbkdf2 = promisify(pbkdf2);
// promisify() would select the overload without options.
const deriveScrypt = (password: string, salt: Buffer, length: number, options: object): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(password, salt, length, options, (error, key) => (error ? reject(error) : resolve(key)));
  });

/** In a separate thread: in this one it would block all requests. */
function isBcrypt(hash: string, password: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./bcrypt-worker.ts', import.meta.url), {
      workerData: { hash, password },
    });
    worker.once('message', (isMatch: unknown) => resolve(isMatch === true));
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the bcrypt worker ended without an answer')));
  });
}

async function isMatch(hash: string, password: string): Promise<boolean> {
  const [, kind = '', parameters = '', saltText = '', keyText = ''] = hash.split('$');
  if (kind.endsWith('-sha256') && kind.startsWith('2'))
    return isBcrypt(hash.replace('-sha256', ''), createHash('sha256').update(password).digest('hex'));
  if (kind.startsWith('2')) return isBcrypt(hash, password);
  const [salt, key] = [Buffer.from(saltText, 'base64'), Buffer.from(keyText, 'base64')];
  const numbers = parameters.split(',').map((part) => Number(part.split('=')[1]));
  if (kind === 'scrypt') {
    const [log2 = 0, r = 0, p = 0] = numbers;
    const options = { N: 2 ** log2, r, p, maxmem: bounds.scrypt.memoryBytes + 2 * KIB * KIB * p };
    return timingSafeEqual(await deriveScrypt(password, salt, key.length, options), key);
  }
  const [iterations = 0] = numbers;
  return timingSafeEqual(
    await derivePbkdf2(password, salt, iterations, key.length, kind.slice('pbkdf2-'.length)),
    key,
  );
}

/**
 * @param hash isForeignHash
 * @returns whether the password matches, as typed or after normalization (password.ts)
 */
export async function verifyForeignHash(hash: string, password: string): Promise<boolean> {
  // The import bounds hashes, but one may have been written to the store without it.
  const read = readPasswordHash(hash);
  if (!('hash' in read)) return false;
  if (await isMatch(read.hash, password)) return true;
  const normalized = password.normalize('NFKC');
  return normalized !== password && isMatch(read.hash, normalized);
}
