// Detects that a client sends the same code_challenge or nonce twice (RFC 9700 §2.1.1: they must be transaction-specific),
// which gives it no protection. It is logged as a warning, not refused, because a reloaded page repeats its request too.
import { createHash } from 'node:crypto';

export interface IssuedCode {
  readonly clientId: string;
  readonly codeChallenge: string | undefined;
  readonly nonce: string | undefined;
}

export interface RepeatWatch {
  /** Called for every authorization code; returns immediately. */
  codeIssued(code: IssuedCode): void;
}

/** Values that this process remembers; beyond that, the oldest are dropped. */
const MAX_REMEMBERED = 10_000;
/** 96 bits: two values do not have the same digest by chance. */
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
    if (seen.size > MAX_REMEMBERED && oldest !== undefined) seen.delete(oldest);
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
          `the application repeated a ${parameter}, which must be unique to each request`,
        );
      }
    },
  };
}
