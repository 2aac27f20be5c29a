// What an API demands of tokens for it, by its rows.
import { walk } from '../api/walk.ts';
import { AppError } from '../errors.ts';
import { demandRows } from '../model/api-rows.ts';
import type { ApiRecord } from '../store/apis.ts';

const demands = walk<typeof demandRows, ApiRecord>(demandRows, {});

export const showDemands = (record: ApiRecord) => demands.show(record);

/** @throws AppError request.invalid */
export function withDemands(
  record: ApiRecord,
  given: Readonly<Record<string, unknown>>,
  mode: 'replace' | 'merge',
): ApiRecord {
  const { next, problems } = demands.change(record, given, { by: 'administrator', mode, unknown: 'dropped' });
  if (problems.size > 0) throw new AppError('request.invalid', { fields: Object.fromEntries(problems) });
  return next;
}
