// Converts a realm's stored password to the text form of an importable hash.
import { listOf, type Members, membersOf, numberOf, parsedOf, textOf, textsOf } from './json.ts';

const digests: Readonly<Record<string, string>> = {
  pbkdf2: 'sha1',
  'pbkdf2-sha1': 'sha1',
  'pbkdf2-sha256': 'sha256',
  'pbkdf2-sha512': 'sha512',
};
const versions: Readonly<Record<string, number>> = { '1.0': 16, '1.3': 19 };

const unpadded = (text: string): string => text.replace(/=+$/, '');

interface Stored {
  readonly algorithm: string;
  readonly iterations: number;
  readonly salt: string;
  readonly value: string;
  readonly parameters: Members;
}

/** Since version 8 the two members contain JSON; before, there were plain members. */
function storedOf(credential: Members): Stored | undefined {
  const [secret, data] = [parsedOf(credential.secretData), parsedOf(credential.credentialData)];
  const value = textOf(secret.value) ?? textOf(credential.hashedSaltedValue);
  const salt = textOf(secret.salt) ?? textOf(credential.salt);
  const iterations = numberOf(data.hashIterations) ?? numberOf(credential.hashIterations);
  const algorithm = textOf(data.algorithm) ?? textOf(credential.algorithm);
  if (value === undefined || salt === undefined || iterations === undefined || algorithm === undefined)
    return undefined;
  return { algorithm, iterations, salt, value, parameters: membersOf(data.additionalParameters) };
}

function hashOf({ algorithm, iterations, salt, value, parameters }: Stored): string | undefined {
  const [saltText, valueText] = [unpadded(salt), unpadded(value)];
  if (algorithm === 'argon2') {
    const first = (name: string): string | undefined => textsOf(parameters[name])[0];
    const version = versions[first('version') ?? '1.3'];
    const [memory, lanes] = [first('memory'), first('parallelism')];
    if (version === undefined || memory === undefined || lanes === undefined) return undefined;
    return `$argon2${first('type') ?? 'id'}$v=${version}$m=${memory},t=${iterations},p=${lanes}$${saltText}$${valueText}`;
  }
  const digest = Object.hasOwn(digests, algorithm) ? digests[algorithm] : undefined;
  return digest && `$pbkdf2-${digest}$i=${iterations}$${saltText}$${valueText}`;
}

/** @returns the hash, or why there is none; undefined if there never was a password */
export function passwordOf(credentials: unknown): { hash: string } | { problem: string } | undefined {
  const credential = listOf(credentials).find(({ type }) => type === 'password');
  if (credential === undefined) return undefined;
  const stored = storedOf(credential);
  const hash = stored && hashOf(stored);
  return hash === undefined
    ? { problem: `its password (${stored?.algorithm ?? 'unreadable'}) cannot be converted` }
    : { hash };
}
