// Runs a client that others wrote, in its own language, and is the browser beside it. They speak lines of JSON. The program
// writes what it wants or has done to its standard output, and reads the answers from its standard input:
//   {"authorize": "<url>"}                      -> {"callback": "<url>"}, after sign-in and consent
//   {"device": "<verification_uri_complete>"}   -> {"approved": true}
//   {"logout": "<end session url>"}             -> {"callback": "<url>"}: back at the client, or our own page
//   {"visit": "<url>", "submit": {…}}           -> {"page": {"url", "status", "body"}}: for clients that are web servers; with
//                                                  `submit` the form of that page is sent with these fields beside its hidden ones
//   {"remove": "<client_id>"}                   -> {"removed": true}: an administrator deletes the client
//   {"step": "userinfo", "ok": true, …}         a step that it took; one that is not ok fails the test
//   {"done": true}                              the end; without it the run has failed
// Other lines, and all of standard error, are shown when it fails.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { handedOn } from '../../support/environment.ts';
import type { Browser, Issuer } from './issuer.ts';

const TIME_LIMIT_MS = 120_000;

export interface Step {
  readonly step: string;
  readonly ok: boolean;
  readonly [fact: string]: unknown;
}

export interface ClientProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** Beside ISSUER and BASE_URL. */
  readonly env?: Readonly<Record<string, string>>;
  readonly timeLimitMs?: number;
}

const textIn = (message: object, name: string): string | undefined => {
  const value: unknown = Reflect.get(message, name);
  return typeof value === 'string' ? value : undefined;
};

/** The fields of `submit`, where the message has it. */
function fieldsIn(message: object): Record<string, string> | undefined {
  const fields: unknown = Reflect.get(message, 'submit');
  if (typeof fields !== 'object' || fields === null) return undefined;
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));
}

function messageOf(line: string): object | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** @returns the line for the program, undefined where it waits for none */
async function answerTo(message: object, browser: Browser, { app }: Issuer): Promise<object | undefined> {
  const removed = textIn(message, 'remove');
  if (removed !== undefined) {
    const { status } = await app.admin('DELETE', `/clients/${encodeURIComponent(removed)}`);
    return { removed: status === 204 };
  }
  const authorize = textIn(message, 'authorize');
  if (authorize !== undefined) return { callback: await browser.signIn(authorize) };
  const device = textIn(message, 'device');
  if (device !== undefined) {
    await browser.approve(device);
    return { approved: true };
  }
  const logout = textIn(message, 'logout');
  if (logout !== undefined) return { callback: await browser.signOut(logout) };
  const visit = textIn(message, 'visit');
  if (visit === undefined) return undefined;
  const { url, status, body } = await browser.visit(visit, fieldsIn(message));
  return { page: { url, status, body } };
}

/** The program and all that it started; a build tool's JVM is a child of its script. */
function killAll(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // All of them have ended.
  }
}

export async function runClient(program: ClientProgram, issuer: Issuer): Promise<readonly Step[]> {
  const { command, args, cwd, env = {}, timeLimitMs = TIME_LIMIT_MS } = program;
  const child = spawn(command, args, {
    ...(cwd !== undefined && { cwd }),
    env: { ...handedOn(), ISSUER: issuer.issuer, BASE_URL: issuer.url, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const kill = (): void => killAll(child);
  process.once('exit', kill);
  const started = once(child, 'spawn');
  const exited = once(child, 'close');
  const timer = setTimeout(kill, timeLimitMs);
  const steps: Step[] = [];
  const said: string[] = [];
  let isDone = false;
  child.stderr.on('data', (chunk) => said.push(String(chunk)));
  // Writing to a program that has ended is not the fault to report.
  child.stdin.on('error', () => undefined);
  try {
    await started;
    const browser = issuer.newBrowser();
    for await (const line of createInterface({ input: child.stdout })) {
      const message = messageOf(line);
      if (message === undefined) said.push(`${line}\n`);
      else if (Reflect.get(message, 'done') === true) isDone = true;
      else {
        const step = textIn(message, 'step');
        if (step !== undefined) steps.push({ ...message, step, ok: Reflect.get(message, 'ok') === true });
        const answer = await answerTo(message, browser, issuer);
        if (answer !== undefined) child.stdin.write(`${JSON.stringify(answer)}\n`);
      }
    }
    await exited;
    const failed = steps.filter(({ ok }) => !ok);
    if (!isDone || failed.length > 0) throw new Error(isDone ? JSON.stringify(failed) : 'it did not finish');
    return steps;
  } catch (error) {
    const taken = steps.map((step) => JSON.stringify(step)).join('\n');
    const refused = issuer.refusals().slice(-5).join('');
    const why = error instanceof Error ? error.message : String(error);
    const text = `${why}\n-- steps\n${taken}\n-- refused by the provider\n${refused}\n-- said by the client\n${said.join('').slice(-6000)}`;
    throw new Error(`${[command, ...args].join(' ')}: ${text}`, { cause: error });
  } finally {
    clearTimeout(timer);
    process.removeListener('exit', kill);
    kill();
  }
}

/** The steps' names, in the order in which they were taken. */
export const namesOf = (steps: readonly Step[]): string[] => steps.map(({ step }) => step);
