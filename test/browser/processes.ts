// The processes of a first run in two terminals: the server as `npm start` runs it, on its own folder, and the sample
// application.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assertDeclared } from '../support/api-check.ts';
import { handedOn } from '../support/environment.ts';
import { freePort } from '../support/free-port.ts';
import { productEntry } from '../support/product-entry.ts';

export const ADMIN_TOKEN = 'test-admin-token-0123456789-0123456789';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const START_MS = 180_000;

export interface Program {
  /** Without a trailing slash. */
  readonly origin: string;
  /** Everything printed so far. */
  output(): string;
  /** @returns the exit code */
  stop(): Promise<number | null>;
}

interface Spec {
  readonly file: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Its first group is the address. */
  readonly ready: RegExp;
}

/** @returns once it prints that it is ready; rejects with what it printed when it ends before */
export async function start({ file, args = [], env = {}, ready }: Spec): Promise<Program> {
  const child: ChildProcess = spawn(process.execPath, [file, ...args], {
    cwd: ROOT,
    // Nothing of the tests' own environment: what is not given here is as on a fresh machine.
    env: { ...handedOn(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const exited = once(child, 'exit').then(([code]: (number | null)[]) => code ?? null);
  const origin = await new Promise<string>((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`${file} ${why}:\n${text}`));
    const timer = setTimeout(() => fail('is not ready'), START_MS);
    void exited.then(() => fail('ended'));
    const read = (chunk: Buffer): void => {
      text += chunk.toString('utf8');
      const [, address] = ready.exec(text) ?? [];
      if (address === undefined) return;
      clearTimeout(timer);
      resolve(address);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
  });
  return {
    origin,
    output: () => text,
    stop: () => {
      child.kill('SIGTERM');
      return exited;
    },
  };
}

export interface RunningServer extends Program {
  readonly issuer: string;
  readonly dataDir: string;
  /** The admin API with ADMIN_TOKEN. @returns the `data` of the answer */
  admin(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
}

/** A server that no one has used yet. */
export async function startServer(env: Readonly<Record<string, string>> = {}): Promise<RunningServer> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-browser-'));
  const port = await freePort();
  const program = await start({
    file: productEntry(),
    env: { PORT: String(port), DATA_DIR: folder, ADMIN_TOKEN, ...env },
    ready: /"base_url":"([^"]+)"/,
  });
  return {
    ...program,
    issuer: `${program.origin}/oauth2`,
    dataDir: folder,
    async admin(method, path, body) {
      const response = await fetch(`${program.origin}/admin/api${path}`, {
        method,
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      assertDeclared(method, path, response, text);
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return text === '' ? {} : JSON.parse(text).data;
    },
    async stop() {
      const code = await program.stop();
      await rm(folder, { recursive: true, force: true });
      return code;
    },
  };
}

interface SampleOptions {
  /** Registers by itself with this token. */
  readonly adminToken?: string;
}

/** An MCP server, which is an API of the provider. */
export const startSampleMcp = (issuer: string, { adminToken }: SampleOptions = {}): Promise<Program> =>
  start({
    file: 'scripts/sample-mcp.ts',
    args: ['--port', '0', '--issuer', issuer],
    env: adminToken === undefined ? {} : { ADMIN_TOKEN: adminToken },
    ready: /MCP clients: (http:\/\/localhost:\d+)\/mcp[\s\S]*is on\./,
  });

export const startSample = (issuer: string, { adminToken }: SampleOptions = {}): Promise<Program> =>
  start({
    file: 'scripts/sample.ts',
    args: ['--port', '0', '--issuer', issuer],
    env: adminToken === undefined ? {} : { ADMIN_TOKEN: adminToken },
    ready: /Open (http:\/\/localhost:\d+)\//,
  });
