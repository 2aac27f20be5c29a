// Owns what a Redis server must be set to, and should be: asked once at the start, of every master.
import type { Redis } from 'ioredis';
import { StoreUnavailable } from '../../src/store/port.ts';
import type { RedisConnection, RedisLog } from './connection.ts';

const SAFE_POLICY = 'noeviction';

/** Providers forbid CONFIG: undefined then. */
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
 * An entry that is dropped to save memory may be a count of guesses: whoever guesses would begin anew.
 * @throws StoreUnavailable that names the policy and the cure
 */
export async function refuseEviction(connection: RedisConnection): Promise<void> {
  for (const master of connection.masters()) {
    const info = await connection.run(() => master.info('memory'));
    const told = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
    const policy = told ?? (await setting(connection, master, 'maxmemory-policy'));
    if (policy === SAFE_POLICY) continue;
    throw new StoreUnavailable(
      `Redis has the eviction policy ${policy ?? 'of unknown name'}, which may drop entries that still count. Set it to ` +
        `${SAFE_POLICY}: "maxmemory-policy ${SAFE_POLICY}" in redis.conf, CONFIG SET maxmemory-policy ${SAFE_POLICY}, ` +
        'or the setting of that name at your provider.',
    );
  }
}

/**
 * A server that comes back without its last moment has forgotten that a code was used or a token revoked. One that
 * comes back with everything, or with nothing, has not.
 */
export async function warnOfForgetting(connection: RedisConnection, log: RedisLog): Promise<void> {
  for (const master of connection.masters()) {
    const info = await connection.run(() => master.info('persistence'));
    const hasLog = /^aof_enabled:1/m.test(info);
    const name = hasLog ? 'appendfsync' : 'save';
    const value = await setting(connection, master, name);
    if (value === undefined || value === (hasLog ? 'always' : '')) continue;
    log.warn(
      { [name]: value },
      'after a crash this Redis may come back without its last moment, and a code that was used in it could be used ' +
        'again: set "appendonly yes" with "appendfsync always", or keep nothing ("appendonly no" and save "")',
    );
  }
}
