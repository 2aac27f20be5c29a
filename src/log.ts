// Logging: JSON lines by pino, readable lines in a terminal. Secrets are masked, and no value from outside can end a record
// or send control sequences to a terminal.
import pino from 'pino';
import { systemClock } from './clock.ts';
import type { LogLevel } from './log-level.ts';
import { createLogLines } from './log-lines.ts';
import { terminalLines } from './log-terminal.ts';

// No `child`: pino writes its bindings past the formatters that mask secrets.
export type Logger = Pick<
  pino.Logger,
  'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'isLevelEnabled'
>;

export interface LoggerOptions {
  readonly level: LogLevel;
  /** Readable lines instead of JSON; by default where standard output is a terminal. */
  readonly pretty?: boolean;
  /** Where finished lines go; standard output by default. */
  readonly destination?: { write(line: string): void };
}

const REDACTED = '[redacted]';
const MAX_DEPTH = 8;
const MAX_ITEMS = 100;
const MAX_TEXT = 4_000;

// Compared without case and separators, so `refresh_token`, `refreshToken` and `Refresh-Token` are one name.
const secretEnding =
  /(?:pass(?:word|phrase|wd)(?:hash)?|secrets?|tokens?|tokenhint|cookies?|authorization|apikey|privatekey|privatejwk|otp|assertion|verifier|csrf)$/;
const secretCode = /^(?:(?:authorization|user|device|recovery|magiclink|login|email|mfa)?codes?)$/;

function judgeKey(key: string): boolean {
  const name = key.replace(/[-_.\s]/g, '').toLowerCase();
  return secretEnding.test(name) || secretCode.test(name);
}

/** Each request's line has the same few; keys from outside (parsed JSON) must not fill the memory. */
const MAX_JUDGED = 500;
const judged = new Map<string, boolean>();

function isSecretKey(key: string): boolean {
  let isSecret = judged.get(key);
  if (isSecret === undefined) {
    isSecret = judgeKey(key);
    if (judged.size < MAX_JUDGED) judged.set(key, isSecret);
  }
  return isSecret;
}

// Secrets inside a text, as in the message of a failed request: JWTs, Authorization values, code= in a URL. A JWT may have been cut
// anywhere, and its claims are nobody's either.
const bearerInText =
  /\beyJ[\w-]{10,}(?:\.[\w-]*){0,4}|\b(?:Bearer|Basic|DPoP) +[\w.~+/=-]{8,}|(?<=[?&](?:code|[\w-]*token|[\w-]*secret|password)=)[^&\s"'\\]+/gi;

/** @returns the text with tokens and other secrets masked, as a log line has it */
export const maskBearers = (text: string): string => text.replace(bearerInText, REDACTED);

// Everything but C0, DEL, C1 (0x9b starts terminal sequences) and the two Unicode line separators; JSON itself escapes only
// C0. Written as the complement, so that the expression contains no control character.
const controls = /[^\x20-\x7e\u00a0-\u2027\u202a-\uffff]/g;

const escapeControls = (text: string): string =>
  text.replace(controls, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Applied to the finished line, whatever field a value came from. */
const guardLine = (line: string): string => `${escapeControls(maskBearers(line.trimEnd()))}\n`;

const cut = (text: string): string => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);

/** Type, message, code and stack only: libraries attach requests and bodies to errors. */
function cleanError(error: Error, depth: number): Record<string, unknown> {
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  const code = 'code' in error && typeof error.code === 'string' ? { code: cut(error.code) } : {};
  const cause = error.cause === undefined ? {} : { cause: cleanValue(error.cause, depth + 1) };
  const message = cut(error.message);
  // A line break inside the message would look like a separate record in a terminal.
  const stack = [escapeControls(`${error.name}: ${message}`), ...frames].join('\n');
  return { type: error.name, message, ...code, stack, ...cause };
}

function cleanValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return cut(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'function' || typeof value === 'symbol') return undefined;
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) return '[deep]';
  if (value instanceof Error) return cleanError(value, depth);
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => cleanValue(item, depth + 1));
  if (value instanceof Date || value instanceof URL) return value.toJSON();
  if (ArrayBuffer.isView(value)) return '[binary]';
  return cleanFields(value, depth + 1);
}

function cleanFields(fields: object, depth: number): Record<string, unknown> {
  const clean: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields).slice(0, MAX_ITEMS)) {
    clean[key] = isSecretKey(key) && value !== undefined ? REDACTED : cleanValue(value, depth);
  }
  return clean;
}

let second = { at: Number.NaN, text: '' };

/** As pino's isoTime, with the part that stays the same for a second written once. */
function isoTime(): string {
  const now = systemClock();
  const milliseconds = now % 1000;
  if (now - milliseconds !== second.at)
    second = { at: now - milliseconds, text: `,"time":"${new Date(now).toISOString().slice(0, 20)}` };
  return `${second.text}${String(milliseconds).padStart(3, '0')}Z"`;
}

/** Synchronous and without a worker thread, so that the last line before a crash is not lost. */
function prettyDestination(out: { write(line: string): void }, isColored: boolean): pino.DestinationStream {
  const format = terminalLines(isColored, escapeControls);
  return {
    write(line) {
      const shown = format(line);
      if (shown !== '') out.write(shown);
    },
  };
}

function standardOutput(): pino.DestinationStream {
  const out = pino.destination({ dest: 1, sync: true });
  return createLogLines((text) => out.write(text));
}

/** Masks secrets by field name at any depth, and bearer values inside texts. */
export function createLogger({ level, pretty, destination }: LoggerOptions): Logger {
  const isPretty = pretty ?? (destination === undefined && process.stdout.isTTY === true);
  const isColored = destination === undefined && process.stdout.isTTY === true && process.stdout.hasColors();
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: isoTime,
      // The formatters below have turned every error into plain fields already.
      serializers: { err: (fields: unknown) => fields },
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => cleanFields(fields, 0),
      },
      hooks: { streamWrite: isPretty ? maskBearers : guardLine },
    },
    isPretty
      ? prettyDestination(destination ?? process.stdout, isColored)
      : (destination ?? standardOutput()),
  );
}
