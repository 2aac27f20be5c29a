// POST /resources/import: APIs of another installation, one JSON object per line as the list shows them. An API is found by its
// identifier: one that is there is replaced, another is created. Each line is a request of its own: an invalid one stops no other.
import type { Static } from 'typebox';
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
import type { AdminPorts } from '../../api/ports.ts';
import type { LinesInput } from '../../api/route.ts';
import { object, oneOf, optional, string } from '../../api/schema-parts.ts';
import { createValidator } from '../../api/validate.ts';
import { importedApiSchema } from './schema.ts';

const MAX_ROWS = 1_000;
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_LINE_BYTES = 100 * 1024;

const resultSchema = object({
  line: lineNumber,
  status: oneOf(['created', 'replaced', 'failed', 'stopped'], stoppedMeaning),
  id: optional(string('The id of the API.')),
  identifier: optional(string('The identifier of the API.')),
  introspection_client_id: optional(string('Of a created one: what it introspects with.')),
  introspection_client_secret: optional(
    string('Of a created one: its secret. Only this response contains it.'),
  ),
  error: lineError,
});
type Result = Static<typeof resultSchema>;

const row = createValidator(importedApiSchema);

interface Taken {
  readonly result: Result;
  readonly event: 'api.created' | 'api.updated';
  readonly id: string;
}

async function take(text: Line, { apis }: AdminPorts): Promise<Taken> {
  const { identifier: named, ...line } = row.parse(parseLine(text, MAX_LINE_BYTES));
  const identifier = String(named);
  const { id: _id, introspection_client_id: _own, created_at: _made, updated_at: _at, ...given } = line;
  const known = await apis.findByIdentifier(identifier);
  const about = { line: text.number, identifier };
  if (known !== undefined) {
    const { id } = await apis.update(known.id, given, { mode: 'replace' });
    return { id, event: 'api.updated', result: { ...about, status: 'replaced', id } };
  }
  const { api, introspectionSecret } = await apis.create(identifier, given);
  const { id, value } = api;
  const credentials = {
    introspection_client_id: value.introspectionClientId,
    introspection_client_secret: introspectionSecret,
  };
  return { id, event: 'api.created', result: { ...about, status: 'created', id, ...credentials } };
}

async function takeAll({ lines, actor }: LinesInput, ports: AdminPorts): Promise<readonly Result[]> {
  const results: Result[] = [];
  let reached = 0;
  try {
    for await (const line of lines) {
      if (line.text?.trim() === '') continue;
      assertRoom(results.length, MAX_ROWS);
      reached = line.number;
      const taken = await take(line, ports).catch((error: unknown) => {
        const reason = asAppError(error);
        results.push({ line: line.number, status: 'failed', error: lineErrorOf(reason) });
        if (reason.status >= 500) throw reason;
      });
      if (taken === undefined) continue;
      // First the result: its secret is not to be had again.
      results.push(taken.result);
      const target = { kind: 'api', id: taken.id } as const;
      await ports.events.record({ event: taken.event, actor, target, details: { by: 'import' } });
    }
  } catch (error) {
    // Some APIs are already created, and the caller has to learn their secrets.
    if (reached === 0) throw error;
    results.push({ line: reached + 1, status: 'stopped', error: lineErrorOf(asAppError(error)) });
  }
  const details = countsOf(results, 'created', 'replaced', 'failed', 'stopped');
  await ports.events.record({ event: 'apis.imported', actor, details }).catch((error: unknown) => {
    if (details.created === 0) throw error;
    if (details.stopped === 1) return;
    results.push({ line: reached + 1, status: 'stopped', error: lineErrorOf(asAppError(error)) });
  });
  return results;
}

export const apiImport = defineRoutes('APIs', (on) => ({
  import: on.lines('POST /resources/import', {
    // Each API has an event of its own; takeAll records them all.
    recorded: { event: 'apis.imported' },
    summary:
      'Import APIs: one JSON object per line, as the list shows them, one result per line. An API with that identifier is ' +
      `replaced, otherwise one is created; up to ${MAX_ROWS} lines per request`,
    lines: {
      types: lineTypes,
      maxLineBytes: MAX_LINE_BYTES,
      maxBytes: MAX_BYTES,
      row: importedApiSchema,
      result: resultSchema,
    },
    run: takeAll,
  }),
}));
