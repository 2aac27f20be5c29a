// The key set of a client at its `jwks_uri`, when the client has a new key: the library keeps a set for a minute, and refuses an
// assertion by a key that it does not know meanwhile. An unknown `kid` makes it fetch the set again, once.
import { decodeProtectedHeader } from 'jose';
import type { Clock } from '../../clock.ts';
import type { ClientWithKeys } from '../provider-base.ts';

/** Anyone can send an assertion with a `kid` that does not exist, and must not make this server fetch at will. */
const MIN_MS = 10_000;

/** @returns what expires the keys of a client whose assertion names a key that is not among them */
export function createKeyLookup(clock: Clock): (client: ClientWithKeys, assertion: unknown) => void {
  const lookedAt = new WeakMap<ClientWithKeys, number>();

  return (client, assertion) => {
    const { asymmetricKeyStore: keys } = client;
    if (client.jwksUri === undefined || !keys.fresh()) return;
    const kid = kidOf(assertion);
    if (kid === undefined || [...keys].some((key) => key.kid === kid)) return;
    if (clock() - (lookedAt.get(client) ?? Number.NEGATIVE_INFINITY) < MIN_MS) return;
    lookedAt.set(client, clock());
    keys.freshUntil = 0;
  };
}

function kidOf(assertion: unknown): string | undefined {
  if (typeof assertion !== 'string') return undefined;
  try {
    return decodeProtectedHeader(assertion).kid;
  } catch {
    return undefined;
  }
}
