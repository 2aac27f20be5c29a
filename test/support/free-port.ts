// A port for a server that a test starts and names to others before it listens. It is below the range from which the system takes
// ports for outgoing connections and for `listen(0)`, and is claimed by a file while this process lives: test files run side by
// side, and a port that was merely free a moment ago was given to two servers of one cluster.
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/** Redis opens the bus of a cluster 10000 above its port: those ports are nobody's either. */
const LOWEST = 10_240;
const HIGHEST = 19_999;

const claims = join(tmpdir(), `latchkey-ports-${userInfo().uid}`);
const claimed = new Set<string>();

// First: what else is called at the end may end the process (left-open.ts).
process.prependListener('exit', () => {
  for (const file of claimed) rmSync(file, { force: true });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** @returns false when it is another's; what a killed process left is removed, for whoever asks for that port next */
function claim(port: number): boolean {
  mkdirSync(claims, { recursive: true });
  const file = join(claims, String(port));
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    claimed.add(file);
    return true;
  } catch {
    if (existsSync(file) && !isAlive(Number(readFileSync(file, 'utf8')))) rmSync(file, { force: true });
    return false;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}

export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST + 1));
    if (claim(port) && (await isFree(port))) return port;
  }
  throw new Error(`no free port from ${LOWEST} to ${HIGHEST}`);
}
