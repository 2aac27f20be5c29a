// Owns noticing that one client sends the same code_challenge or nonce twice (RFC 9700 §2.1.1: they must be
// transaction-specific): a client that does so has no protection from them. A warning in the log, and no refusal: a page
// that is reloaded repeats its request too.
import { createHash } from 'node:crypto';

export interface IssuedCode {
  readonly clientId: string;
  readonly codeChallenge: string | undefined;
  readonly nonce: string | undefined;
}

export interface RepeatWatch {
  /** Called for every authorization code; comes back at once. */
  codeIssued(code: IssuedCode): void;
}

/** Values remembered by this process; beyond, the oldest are forgotten. */
const REMEMBERED = 10_000;
/** 96 bits: nobody meets another value's digest by chance. */
const DIGEST_LENGTH = 16;

export function createRepeatWatch(log: { warn(fields: object, message: string): void }): RepeatWatch {
  const seen = new Set<string>();

  function isRepeated(clientId: string, kind: string, value: string): boolean {
    const digest = createHash('sha256')
      .update(JSON.stringify([clientId, kind, value]))
      .digest('base64url');
    const key = digest.slice(0, DIGEST_LENGTH);
    if (seen.has(key)) return true;
    seen.add(key);
    const [oldest] = seen;
    if (seen.size > REMEMBERED && oldest !== undefined) seen.delete(oldest);
    return false;
  }

  return {
    codeIssued({ clientId, codeChallenge, nonce }) {
      for (const [parameter, value] of [
        ['code_challenge', codeChallenge],
        ['nonce', nonce],
      ] as const) {
        if (value === undefined || !isRepeated(clientId, parameter, value)) continue;
        log.warn(
          { event: 'request_value_repeated', client_id: clientId, parameter },
          `the application sent a ${parameter} that it had sent before`,
        );
      }
    },
  };
}
