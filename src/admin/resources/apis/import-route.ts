// POST /resources/import: APIs of another installation, one JSON object per line as the list shows them. An API is found by its
// identifier: one that is there is replaced, another is created. Each line is a request of its own: an invalid one stops no other.
import { Enum, Object as ObjectSchema, Optional, type Static, String as StringSchema } from 'typebox';
import { AppError } from '../../../errors.ts';
import type { Events } from '../../../events/index.ts';
import type { Line } from '../../../http/index.ts';
import { defineRoutes, type RouteKit } from '../../api/define-resource.ts';
import {
  assertRoom,
  countsOf,
  lineError,
  lineErrorOf,
  lineNumber,
  lineTypes,
  parseLine,
  stoppedMeaning,
} from '../../api/import-lines.ts';
import type { Actor } from '../../api/ports.ts';
import type { LinesInput } from '../../api/route.ts';
import { strict } from '../../api/schema-parts.ts';
import { createValidator } from '../../api/validate.ts';
import type { ApisPort } from './resource.ts';
import { importedApiSchema, readApi } from './schema.ts';

interface Ports {
  readonly apis: ApisPort;
  readonly events: Pick<Events, 'record'>;
}

const MAX_ROWS = 1_000;
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_LINE_BYTES = 100 * 1024;

const resultSchema = ObjectSchema(
  {
    line: lineNumber,
    status: Enum(['created', 'replaced', 'failed', 'stopped'], { description: stoppedMeaning }),
    id: Optional(StringSchema({ description: 'The id of the API.' })),
    identifier: Optional(StringSchema({ description: 'The identifier of the API.' })),
    introspection_client_id: Optional(
      StringSchema({ description: 'Of a created one: what it introspects with.' }),
    ),
    introspection_client_secret: Optional(
      StringSchema({ description: 'Of a created one: its secret. Only this response contains it.' }),
    ),
    error: lineError,
  },
  strict,
);
type Result = Static<typeof resultSchema>;

const row = createValidator(importedApiSchema);

async function take(line: Line, actor: Actor, { apis, events }: Ports): Promise<Result> {
  const { identifier, ...given } = row.parse(parseLine(line, MAX_LINE_BYTES));
  const known = await apis.findByIdentifier(identifier);
  const about = { line: line.number, identifier };
  if (known !== undefined) {
    const { id } = await apis.update(known.id, readApi(given), { mode: 'replace' });
    await events.record({
      event: 'api.updated',
      actor,
      target: { kind: 'api', id },
      details: { by: 'import' },
    });
    return { ...about, status: 'replaced', id };
  }
  const { api, introspectionSecret } = await apis.create(identifier, readApi(given));
  const { id, value } = api;
  await events.record({
    event: 'api.created',
    actor,
    target: { kind: 'api', id },
    details: { by: 'import' },
  });
  return {
    ...about,
    status: 'created',
    id,
    introspection_client_id: value.introspectionClientId,
    introspection_client_secret: introspectionSecret,
  };
}

async function takeAll({ lines, actor }: LinesInput, ports: Ports): Promise<readonly Result[]> {
  const results: Result[] = [];
  let taken = 0;
  try {
    for await (const line of lines) {
      if (line.text?.trim() === '') continue;
      assertRoom(results.length, MAX_ROWS);
      taken = line.number;
      try {
        results.push(await take(line, actor, ports));
      } catch (error) {
        if (!(error instanceof AppError) || error.status >= 500) throw error;
        results.push({ line: line.number, status: 'failed', error: lineErrorOf(error) });
      }
    }
  } catch (error) {
    // Some APIs are already created, and the caller has to learn their secrets.
    if (taken === 0 || !(error instanceof AppError)) throw error;
    results.push({ line: taken + 1, status: 'stopped', error: lineErrorOf(error) });
  }
  const details = countsOf(results, 'created', 'replaced', 'failed', 'stopped');
  await ports.events.record({ event: 'apis.imported', actor, details });
  return results;
}

export const apiImport = defineRoutes('APIs', (on: RouteKit<Ports>) => ({
  import: on.lines({
    method: 'POST',
    path: '/resources/import',
    sensitivity: 'sensitive',
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
