// How certificates of rediss:// are verified (REDIS_TLS_VERIFY), and what is said about it: at every start, and when one is
// refused.
import type { ConnectionOptions } from 'node:tls';
import type { RedisOptions } from 'ioredis';
import { pinnedOptions } from './pinned.ts';
import type { RedisAddress } from './url.ts';

/** For messages to the operator that belong to no request. */
export interface RedisLog {
  warn(fields: object, message: string): void;
  info(fields: object, message: string): void;
}

export interface Trust {
  /** Certificate authority (PEM) for rediss://, if it is not one of the system's. */
  readonly ca?: string | undefined;
  /** How certificates of rediss:// are verified: by name and chain (default), not at all, or by SHA-256 of the leaf (hex). */
  readonly verify?: 'on' | 'off' | readonly string[] | undefined;
}

const tlsOptions = ({ ca, verify }: Trust): ConnectionOptions => ({
  ...(ca === undefined ? {} : { ca }),
  ...(verify === 'off' ? { rejectUnauthorized: false } : {}),
});

export const isPinned = ({ verify }: Trust): boolean => typeof verify === 'object';

/** How the driver connects with TLS, and how it finds a master through sentinels. */
export function tlsTransport(
  address: RedisAddress,
  trust: Trust,
): Pick<RedisOptions, 'tls' | 'Connector' | 'enableTLSForSentinelMode' | 'sentinelTLS'> {
  const { hosts, sentinelName, sentinelUsername, sentinelPassword } = address;
  if (!address.isTls) return {};
  if (typeof trust.verify === 'object') {
    if (sentinelName === undefined) return pinnedOptions(trust.verify);
    const login = { username: sentinelUsername, password: sentinelPassword };
    return pinnedOptions(trust.verify, { hosts, name: sentinelName, ...login });
  }
  const tls = tlsOptions(trust);
  return { tls, ...(sentinelName && { enableTLSForSentinelMode: true, sentinelTLS: tls }) };
}

const WITHOUT_VERIFYING =
  'REDIS_TLS_VERIFY is off: the certificate of Redis is not verified. Whoever can redirect the connection reads and changes ' +
  "sessions, codes and tokens, as without TLS. Set it to on, or to the certificate's sha256:…, where the service allows it.";

export function reportVerification(
  { isTls }: RedisAddress,
  { verify }: Trust,
  log: RedisLog | undefined,
): void {
  if (!isTls || verify === undefined || verify === 'on') return;
  if (verify === 'off') log?.warn({ redis_tls_verify: verify }, WITHOUT_VERIFYING);
  else
    log?.info({ redis_tls_verify: verify }, 'the certificate of Redis is verified by REDIS_TLS_VERIFY alone');
}

/** How a server ends a connection without TLS, or from an address it does not allow; the driver gives no details. */
const DISCONNECTED = /^(?:read ECONNRESET|Connection is closed\.)$/;

const CERTIFICATE = /certificate|altnames/i;

export function reasonOf(cause: unknown, { isTls }: RedisAddress, trust: Trust): string {
  // A cluster's error says only that no server could be asked.
  const error = cause instanceof Error && 'lastNodeError' in cause ? cause.lastNodeError : cause;
  const detail = error instanceof Error ? error.message : 'no answer';
  if (DISCONNECTED.test(detail)) {
    // All that is known of a cluster whose certificates were refused.
    return isTls
      ? 'the connection was closed. Does the server speak TLS on this port, and does REDIS_TLS_VERIFY allow its certificate?'
      : 'the server closed the connection. Does it need TLS (rediss://), or is it in protected mode?';
  }
  if (isPinned(trust) || !CERTIFICATE.test(detail)) return detail;
  return (
    `its certificate cannot be verified (${detail}). Trust its authority with NODE_EXTRA_CA_CERTS, or set REDIS_TLS_VERIFY ` +
    "to the certificate's sha256:…, or to off where the service changes a certificate that nobody can verify (Heroku)."
  );
}
