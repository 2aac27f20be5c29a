// Owns the shape of the boot configuration: what the environment says, validated and frozen.
import type { LogLevel } from '../log-level.ts';

/** Headless onboarding: an administrator to create when there is none yet. */
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
  /** Absolute. Not made and not used where there is a `mongodbUri`. */
  readonly dataDir: string;
  /** Where everything is stored; undefined: in the embedded database. Holds a password. */
  readonly mongodbUri: string | undefined;
  /** Where the short-lived is stored; never without `mongodbUri`. Holds a password. */
  readonly redisUrl: string | undefined;
  /** Newest first. Encrypts keys and secrets at rest. */
  readonly secretKeys: readonly string[];
  /** Newest first. Signs cookies. */
  readonly cookieKeys: readonly string[];
  readonly adminToken: string | undefined;
  /** What /metrics asks for; undefined: it answers this machine alone. */
  readonly metricsToken: string | undefined;
  readonly admin: FirstAdmin | undefined;
  /** How many proxies in front of us write X-Forwarded-For; 0: the header is ignored. */
  readonly trustProxy: number;
  /** HTTP processes that share the port. */
  readonly webConcurrency: number;
  /** What the setting `smtp_url` starts with; may hold a password. */
  readonly smtpUrl: string | undefined;
  readonly logLevel: LogLevel;
}
