// What imports of newline-delimited JSON share: each line is a request of its own, and has a result of its own.
import { Record as RecordSchema, type Static } from 'typebox';
import { AppError } from '../../errors.ts';
import type { Line } from '../../http/index.ts';
import { parseJson } from '../../json.ts';
import { StoreUnavailable } from '../../store/port.ts';
import { integer, object, optional, string } from './schema-parts.ts';

export const lineTypes = ['application/x-ndjson', 'application/jsonl'];

export const lineNumber = integer('The number of the line; the first is 1.');
export const stoppedMeaning = '`stopped`: this line and all following ones were not processed.';

const lineErrorSchema = object(
  {
    reason: string('A stable code for programs.'),
    message: string('A sentence for people.'),
    fields: optional(
      RecordSchema(string(), string(), {
        description: 'The invalid fields by name, each with its problem.',
      }),
    ),
  },
  'Why the line changed nothing.',
);
export const lineError = optional(lineErrorSchema);

export const lineErrorOf = ({ code: reason, message, fields }: AppError): Static<typeof lineErrorSchema> => ({
  reason,
  message,
  ...(fields && { fields }),
});

/** @throws AppError request.malformed */
export function parseLine({ text }: Line, maxLineBytes: number): unknown {
  if (text === undefined) {
    const message = `The line is longer than ${maxLineBytes} bytes or not UTF-8.`;
    throw new AppError('request.malformed', { message });
  }
  return parseJson(text);
}

/** @throws AppError request.too_large, which stops the import at this line */
export function assertRoom(taken: number, maxLines: number): void {
  if (taken < maxLines) return;
  const message = `One request takes ${maxLines} lines: continue with another one.`;
  throw new AppError('request.too_large', { message });
}

/** For the event of the whole import. */
export const countsOf = <S extends string>(
  results: readonly { readonly status: S }[],
  ...statuses: readonly S[]
): Record<string, number> =>
  Object.fromEntries(
    statuses.map((wanted) => [wanted, results.filter(({ status }) => status === wanted).length]),
  );

/** What stops an import. @throws errors that are not the store's, so that the error handler logs them */
export function asAppError(error: unknown): AppError {
  if (error instanceof StoreUnavailable) return new AppError('server.unavailable', { cause: error });
  if (error instanceof AppError) return error;
  throw error;
}
