// Turns the environment into the frozen Config and reports all problems at once. The only file that reads process.env.

import { resolve } from 'node:path';
import { deepFreeze } from '../deep-freeze.ts';
import { createReader, type Environment, type Reader } from './environment.ts';
import { baseUrl as parseBaseUrl } from './parsers.ts';
import { resembling } from './resembling.ts';
import { derivedKey, generatedSecretKey, prepareDataDir } from './secret-key.ts';
import type { Config, FirstAdmin } from './types.ts';

/** All problems of the configuration, one sentence each, without secrets. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
    super(`The configuration has ${count}:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

function readFirstAdmin({ read, isSet, problems }: Reader): FirstAdmin | undefined {
  const username = read('ADMIN_USERNAME');
  const password = read('ADMIN_PASSWORD');
  const email = read('ADMIN_EMAIL');
  const isComplete = isSet('ADMIN_USERNAME') && isSet('ADMIN_PASSWORD');
  for (const name of ['ADMIN_USERNAME', 'ADMIN_PASSWORD', 'ADMIN_EMAIL'] as const) {
    if (!isSet(name) || isComplete) continue;
    const missing = isSet('ADMIN_USERNAME') ? 'ADMIN_PASSWORD' : 'ADMIN_USERNAME';
    problems.push(`${name}: needs ${missing} too. Set it, or leave ${name} out and use the onboarding page.`);
  }
  if (username === undefined || password === undefined) return undefined;
  return { username, password, ...(email === undefined ? {} : { email }) };
}

type Databases = Pick<Config, 'mongodbUri' | 'redisUrl' | 'redisTlsVerify'>;

function readDatabases({ read, isSet, problems }: Reader): Databases {
  const mongodbUri = read('MONGODB_URI');
  const redisUrl = read('REDIS_URL');
  const redisTlsVerify = read('REDIS_TLS_VERIFY') ?? 'on';
  // An unreadable or invalid address is a problem of its own.
  const isEncrypted = redisUrl === undefined ? isSet('REDIS_URL') : /^rediss/i.test(redisUrl);
  if (redisTlsVerify !== 'on' && !isEncrypted) {
    problems.push('REDIS_TLS_VERIFY: is for REDIS_URL with TLS. Use rediss:// there, or leave it out.');
  }
  if (isSet('REDIS_URL') && !isSet('MONGODB_URI')) {
    problems.push(
      'REDIS_URL: needs MONGODB_URI too. Redis stores short-lived data only; accounts need a database.',
    );
  }
  if (isSet('MONGODB_URI') && !isSet('SECRET_KEY')) {
    problems.push(
      'SECRET_KEY: is needed with MONGODB_URI, the same one for every process. Create one with: openssl rand -hex 32',
    );
  }
  return { mongodbUri, redisUrl, redisTlsVerify };
}

/**
 * An invalid environment must have no side effects: the folder and the key are created only when all else is valid, and
 * never with an external database.
 */
function prepareSecretKeys(
  { read, attempt, problems }: Reader,
  { dataDir, isEmbedded }: { dataDir: string; isEmbedded: boolean },
): readonly string[] {
  const given = read('SECRET_KEY');
  if (problems.length > 0 || !isEmbedded) return given ?? [];
  attempt('DATA_DIR', () => prepareDataDir(dataDir));
  if (given !== undefined || problems.length > 0) return given ?? [];
  const generated = attempt('SECRET_KEY', () => generatedSecretKey(dataDir));
  return generated === undefined ? [] : [generated];
}

/**
 * With the embedded database, creates DATA_DIR and, without SECRET_KEY, the secret.key in it; otherwise has no side effects.
 * @throws ConfigError with all problems
 */
export function loadConfig(env: Environment): Config {
  const reader = createReader(env);
  const { read, problems } = reader;
  const port = read('PORT') ?? 3000;
  const baseUrl = read('BASE_URL') ?? parseBaseUrl(`http://localhost:${port}`);
  const issuer = read('ISSUER') ?? `${baseUrl}/oauth2`;
  const dataDir = resolve(read('DATA_DIR') ?? './data');
  const host = read('HOST') ?? '';
  const adminToken = read('ADMIN_TOKEN');
  const metricsToken = read('METRICS_TOKEN');
  if (metricsToken !== undefined && metricsToken === adminToken) {
    problems.push('METRICS_TOKEN: equals ADMIN_TOKEN. Use a separate token for reading metrics.');
  }
  const admin = readFirstAdmin(reader);
  const trustProxy = read('TRUST_PROXY') ?? 0;
  const webConcurrency = read('WEB_CONCURRENCY') ?? 1;
  const givenDrainSeconds = read('DRAIN_SECONDS');
  const smtpUrl = read('SMTP_URL');
  const geoipFile = read('GEOIP_FILE');
  const outboundAllow = read('OUTBOUND_ALLOW') ?? [];
  const logLevel = read('LOG_LEVEL') ?? 'info';
  const hasPlainAnswers = (read('PLAIN_ANSWERS') ?? 'on') === 'on';
  const givenCookieKeys = read('COOKIE_KEYS');
  const databases = readDatabases(reader);
  for (const { name, meant, isStore } of resembling(env))
    if (isStore)
      problems.push(
        `${name}: is not read, and an empty database would be started. Name it ${meant}, or leave it out.`,
      );
  // The embedded database is one machine's: no balancer has another to send requests to.
  const drainSeconds = givenDrainSeconds ?? (databases.mongodbUri === undefined ? 0 : 5);
  const secretKeys = prepareSecretKeys(reader, { dataDir, isEmbedded: databases.mongodbUri === undefined });
  const cookieKeys = givenCookieKeys ?? secretKeys.map((key) => derivedKey(key, 'cookies'));
  if (problems.length > 0) throw new ConfigError(problems);
  return deepFreeze({
    port,
    host,
    baseUrl,
    issuer,
    dataDir,
    ...databases,
    secretKeys,
    cookieKeys,
    adminToken,
    metricsToken,
    admin,
    trustProxy,
    outboundAllow,
    webConcurrency,
    drainSeconds,
    smtpUrl,
    geoipFile: geoipFile === undefined ? undefined : resolve(geoipFile),
    logLevel,
    hasPlainAnswers,
  });
}

/** What is to be told of variables that are set and not read. */
export const unreadInEnvironment = (): readonly string[] =>
  resembling(process.env).map(({ name, meant }) => `${name} is not read. Is ${meant} meant?`);

/** @throws ConfigError with all problems */
export const loadConfigFromEnvironment = (): Config => loadConfig(process.env);
