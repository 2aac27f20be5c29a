// Applies changes to the record of an API. Pure: what they refer to is checked before (apis.ts).
import { walk } from '../api/walk.ts';
import { invalid } from '../errors.ts';
import { apiRows } from '../model/apis/rows.ts';
import type { View } from '../model/row.ts';
import type { ApiRecord, ApiScopeRecord } from '../store/apis.ts';
import type { Api, ApiChanges } from './contract.ts';
import { withIds } from './scopes.ts';

/** @throws AppError request.invalid for a name that is no scope */
const grantsOf = (given: Readonly<Record<string, readonly string[]>>, scopes: readonly ApiScopeRecord[]) =>
  Object.entries(given).map(([clientId, names]) => ({
    clientId,
    scopeIds: [...new Set(names)].sort().map((name) => {
      const scope = scopes.find((one) => one.name === name);
      if (scope === undefined) throw invalid({ machine_grants: `“${name}” is not a scope of this API.` });
      return scope.id;
    }),
  }));

/** Without applications that would get none. */
const withSome = (grants: ApiRecord['machineGrants']) => grants.filter(({ scopeIds }) => scopeIds.length > 0);

type NamedRecord = ApiRecord & { readonly id?: string };

/** Reads and changes APIs by their rows: what is special about a few of them. */
const walker = walk<typeof apiRows, NamedRecord>(apiRows, {
  scopes: {
    show: ({ scopes }) =>
      scopes.map(({ name, description, isDefault, roles = [], groups = [] }) => ({
        name,
        description,
        is_default: isDefault,
        roles,
        groups,
      })),
    settle({ scopes: before, machineGrants, endingScopeIds = [] }, to) {
      const scopes = withIds(to ?? [], before);
      const kept = new Set(scopes.map(({ id }) => id));
      const gone = before.flatMap(({ id }) => (kept.has(id) ? [] : [id]));
      const left = machineGrants.map((one) => ({
        ...one,
        scopeIds: one.scopeIds.filter((id) => kept.has(id)),
      }));
      return {
        scopes,
        machineGrants: withSome(left),
        ...(gone.length > 0 && { endingScopeIds: [...endingScopeIds, ...gone] }),
      };
    },
  },
  machine_grants: {
    show: ({ scopes, machineGrants }) =>
      Object.fromEntries(
        machineGrants.map(({ clientId, scopeIds }) => [
          clientId,
          scopeIds.flatMap((id) => scopes.find((scope) => scope.id === id)?.name ?? []),
        ]),
      ),
    settle: ({ scopes }, to) => ({ machineGrants: withSome(grantsOf(to ?? {}, scopes)) }),
  },
});

export type ApiView = View<typeof apiRows>;

export const toApi = ({ id, value }: Api): ApiView => walker.show({ ...value, id });

/**
 * @param mode `replace`: what is absent gets its default
 * @throws AppError request.invalid
 */
export function withChanges(
  record: ApiRecord,
  changes: ApiChanges,
  mode: 'replace' | 'merge' = 'merge',
): ApiRecord {
  const { next, problems } = walker.change(record, changes, { by: 'administrator', mode });
  if (problems.size > 0) throw invalid(Object.fromEntries(problems));
  return next;
}

/** An application that is deleted: its entries go. @returns undefined when there is none */
export function withoutClient(record: ApiRecord, clientId: string): ApiRecord | undefined {
  const { clients, machineGrants } = record;
  const isListed = clients !== 'all' && clients.includes(clientId);
  if (!isListed && !machineGrants.some((one) => one.clientId === clientId)) return undefined;
  return {
    ...record,
    clients: clients === 'all' ? clients : clients.filter((id) => id !== clientId),
    machineGrants: machineGrants.filter((one) => one.clientId !== clientId),
  };
}
