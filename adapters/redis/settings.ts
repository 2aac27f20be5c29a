// Checks the configuration of the Redis servers, once at the start, on every master.
import type { Redis } from 'ioredis';
import { StoreUnavailable } from '../../src/store/port.ts';
import type { RedisConnection } from './connection.ts';
import type { RedisLog } from './tls.ts';

const SAFE_POLICY = 'noeviction';

/** @returns undefined where a provider forbids CONFIG */
async function setting(
  connection: RedisConnection,
  master: Redis,
  name: string,
): Promise<string | undefined> {
  try {
    const [, value] = await connection.run(() => master.config('GET', name));
    return value;
  } catch {
    return undefined;
  }
}

/**
 * Eviction could drop a counter of failed sign-ins, and so reset a rate limit.
 * @throws StoreUnavailable that names the policy and how to change it
 */
export async function refuseEviction(connection: RedisConnection): Promise<void> {
  for (const master of connection.masters()) {
    const info = await connection.run(() => master.info('memory'));
    const reported = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
    const policy = reported ?? (await setting(connection, master, 'maxmemory-policy'));
    if (policy === SAFE_POLICY) continue;
    throw new StoreUnavailable(
      `Redis has the eviction policy ${policy ?? '(unknown)'}, which may evict live entries. Set it to ` +
        `${SAFE_POLICY}: "maxmemory-policy ${SAFE_POLICY}" in redis.conf, CONFIG SET maxmemory-policy ${SAFE_POLICY}, ` +
        'or the setting of that name at your provider.',
    );
  }
}

/**
 * A server that restarts without its last writes has forgotten that a code was used or a token revoked. One that restarts
 * with all of its data, or with none, has not.
 */
export async function warnAboutDataLoss(connection: RedisConnection, log: RedisLog): Promise<void> {
  for (const master of connection.masters()) {
    const info = await connection.run(() => master.info('persistence'));
    const hasLog = /^aof_enabled:1/m.test(info);
    const name = hasLog ? 'appendfsync' : 'save';
    const value = await setting(connection, master, name);
    if (value === undefined || value === (hasLog ? 'always' : '')) continue;
    log.warn(
      { [name]: value },
      'after a crash this Redis may lose its last writes, and a code that was used then could be used again: ' +
        'set "appendonly yes" with "appendfsync always", or disable persistence ("appendonly no" and save "")',
    );
  }
}
