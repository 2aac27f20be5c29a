// The boot configuration: the environment, validated and frozen.
import type { LogLevel } from '../log-level.ts';
import type { OutboundEntry } from './outbound-allow.ts';

/** Headless onboarding: the administrator to create when there is none yet. */
export interface FirstAdmin {
  readonly username: string;
  readonly password: string;
  readonly email?: string;
}

export interface Config {
  /** TCP port, 0–65535; 0: any free one (tests). */
  readonly port: number;
  /** Address to listen on; empty: every address, IPv6 and IPv4. */
  readonly host: string;
  /** Public address without a trailing slash, may carry a path: `https://id.example.com/auth`. */
  readonly baseUrl: string;
  /** Issuer identifier; `{baseUrl}/oauth2` unless ISSUER says otherwise. */
  readonly issuer: string;
  /** Absolute path. Not created and not used with `mongodbUri`. */
  readonly dataDir: string;
  /** Where everything is stored; undefined: in the embedded database. Contains a password. */
  readonly mongodbUri: string | undefined;
  /** Where short-lived data is stored; never without `mongodbUri`. Contains a password. */
  readonly redisUrl: string | undefined;
  /** How certificates of `rediss://` are verified: by name and chain, not at all, or by these SHA-256 of the leaf (hex). */
  readonly redisTlsVerify: 'on' | 'off' | readonly string[];
  /** Newest first. Encrypts keys and secrets at rest. */
  readonly secretKeys: readonly string[];
  /** Newest first. Signs cookies. */
  readonly cookieKeys: readonly string[];
  readonly adminToken: string | undefined;
  /** Required by /metrics; undefined: only this machine may read it. */
  readonly metricsToken: string | undefined;
  readonly admin: FirstAdmin | undefined;
  /** Number of proxies that append to X-Forwarded-For; 0: the header is ignored. */
  readonly trustProxy: number;
  /** What may be called inside for an application. */
  readonly outboundAllow: readonly OutboundEntry[];
  /** HTTP processes that share the port. */
  readonly webConcurrency: number;
  /** How long a process serves on after SIGTERM, with /readyz failing; 0–15. */
  readonly drainSeconds: number;
  /** Where addresses are, as an absolute path (src/places). */
  readonly geoipFile: string | undefined;
  /** Initial value of the setting `smtp_url`; may contain a password. */
  readonly smtpUrl: string | undefined;
  readonly logLevel: LogLevel;
  /** Whether src/oidc/plain/ answers what it can; off: the library answers everything. */
  readonly hasPlainAnswers: boolean;
}
