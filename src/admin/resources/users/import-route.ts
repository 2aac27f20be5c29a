// POST /users/import (decision 0010): users of another system, one JSON object per line, with their existing password hashes.
// Each line is a request of its own: an invalid one stops no other, and the response reports the result of each. Memory holds
// one window of lines, and one short result per line.
import type { Static } from 'typebox';
import type { Account, AccountDomain } from '../../../accounts/index.ts';
import { AppError } from '../../../errors.ts';
import type { Events } from '../../../events/index.ts';
import type { Line } from '../../../http/index.ts';
import { defineRoutes } from '../../api/define-resource.ts';
import {
  asAppError,
  assertRoom,
  countsOf,
  lineError,
  lineErrorOf,
  lineNumber,
  lineTypes,
  parseLine,
  stoppedMeaning,
} from '../../api/import-lines.ts';
import type { Actor, AdminPorts } from '../../api/ports.ts';
import type { LinesInput } from '../../api/route.ts';
import { object, oneOf, optional, string } from '../../api/schema-parts.ts';
import { createValidator } from '../../api/validate.ts';
import { importRowSchema } from './schema.ts';

/** A larger import would exceed the time of one request; clients can split it into several. */
const MAX_ROWS = 5_000;
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_LINE_BYTES = 64 * 1024;
// Parallel writes share commits.
const WINDOW = 64;

const resultSchema = object({
  line: lineNumber,
  status: oneOf(['created', 'failed', 'stopped'], stoppedMeaning),
  id: optional(string('The ID of the new user.')),
  username: optional(string('The username of the new user.')),
  error: lineError,
});
export type ImportResult = Static<typeof resultSchema>;

const failed = (line: number, error: unknown): ImportResult => {
  if (!(error instanceof AppError) || error.status >= 500) throw error;
  return { line, status: 'failed', error: lineErrorOf(error) };
};

const row = createValidator(importRowSchema);

/** @throws AppError request.invalid */
export function toImported(given: unknown) {
  const user = row.parse(given);
  return { ...user, username: String(user.username) };
}

async function prepare(line: Line, { importAccount }: AdminPorts) {
  const prepared = await importAccount(toImported(parseLine(line, MAX_LINE_BYTES)));
  await prepared.ready();
  return prepared;
}

type Prepared = Awaited<ReturnType<AccountDomain['importAccount']>>;

export const recordImported = (
  { id, username, role }: Account,
  actor: Actor,
  events: Pick<Events, 'record'>,
): Promise<void> =>
  events.record({
    event: 'user.created',
    actor,
    target: { kind: 'user', id },
    details: { by: 'import', after: { username, role } },
  });

/** The account, and its event. @throws AppError account.username_taken, account.email_taken */
export async function writeImported(prepared: Prepared, actor: Actor, events: Pick<Events, 'record'>) {
  const account = await prepared.write();
  await recordImported(account, actor, events);
  return account;
}

async function write(
  line: number,
  prepared: Prepared,
  actor: Actor,
  { events }: AdminPorts,
): Promise<ImportResult> {
  const account = await writeImported(prepared, actor, events);
  return { line, status: 'created', id: account.id, username: account.username };
}

/** Validates all lines before the first write, so that of two lines with one name the first succeeds. */
async function takeWindow(lines: readonly Line[], actor: Actor, ports: AdminPorts) {
  const prepared = await Promise.allSettled(lines.map((line) => prepare(line, ports)));
  return Promise.allSettled(
    lines.map(async ({ number }, index) => {
      const outcome = prepared[index];
      try {
        if (outcome?.status !== 'fulfilled') throw outcome?.reason;
        return await write(number, outcome.value, actor, ports);
      } catch (error) {
        return failed(number, error);
      }
    }),
  );
}

async function takeAll({ lines, actor }: LinesInput, ports: AdminPorts): Promise<readonly ImportResult[]> {
  const results: ImportResult[] = [];
  let window: Line[] = [];
  let taken = 0;
  const flush = async (): Promise<void> => {
    const lines = window;
    window = [];
    let broken: AppError | undefined;
    for (const [index, result] of (await takeWindow(lines, actor, ports)).entries()) {
      if (result.status === 'fulfilled') results.push(result.value);
      else {
        broken = asAppError(result.reason);
        results.push({ line: lines[index]?.number ?? 0, status: 'failed', error: lineErrorOf(broken) });
      }
    }
    if (broken !== undefined) throw broken;
  };
  try {
    for await (const line of lines) {
      if (line.text?.trim() === '') continue;
      assertRoom(results.length + window.length, MAX_ROWS);
      window.push(line);
      taken = line.number;
      if (window.length === WINDOW) await flush();
    }
    await flush();
  } catch (error) {
    // Some users are already created, and the caller has to learn which.
    if (taken === 0 || !(error instanceof AppError)) throw error;
    if (window.length > 0) await flush().catch(() => undefined);
    results.push({ line: taken + 1, status: 'stopped', error: lineErrorOf(error) });
  }
  const details = countsOf(results, 'created', 'failed', 'stopped');
  await ports.events.record({ event: 'users.imported', actor, details });
  return results;
}

export const userImport = defineRoutes('Users', (on) => ({
  import: on.lines('POST /users/import', {
    // Each user has an event of its own; takeAll records them all.
    recorded: { event: 'users.imported' },
    summary:
      'Import users of another system with their password hashes: one JSON object per line, one result per line; ' +
      `up to ${MAX_ROWS} lines and ${MAX_BYTES / 1024 / 1024} MiB per request`,
    lines: {
      types: lineTypes,
      maxLineBytes: MAX_LINE_BYTES,
      maxBytes: MAX_BYTES,
      row: importRowSchema,
      result: resultSchema,
    },
    run: takeAll,
  }),
}));
