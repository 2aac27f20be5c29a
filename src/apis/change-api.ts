// Applies changes to the record of an API. Pure: what they refer to is checked before (apis.ts).
import { invalid } from '../errors.ts';
import type { ApiRecord, ApiScopeRecord } from '../store/apis.ts';
import type { ApiChanges } from './contract.ts';
import { withDemands } from './demands.ts';
import { withIds } from './scopes.ts';

/** What a new API is, and what replacing one begins with. */
export const defaults: Pick<
  ApiRecord,
  'scopes' | 'clients' | 'machineGrants' | 'claims' | 'accessTokenFormat'
> = { scopes: [], clients: 'all', machineGrants: [], claims: [], accessTokenFormat: 'at+jwt' };

const sorted = <T extends string>(names: readonly T[]): T[] => [...new Set(names)].sort();

/**
 * @returns by ids, without scopes that are gone and applications that would get none
 * @throws AppError request.invalid for a name that is no scope
 */
function grantsAfter(
  before: ApiRecord['machineGrants'],
  given: ApiChanges['machineGrants'],
  scopes: readonly ApiScopeRecord[],
): ApiRecord['machineGrants'] {
  const idOf = new Map(scopes.map(({ id, name }) => [name, id]));
  const idOfGiven = (name: string): string => {
    const id = idOf.get(name);
    if (id === undefined) throw invalid({ machine_grants: `“${name}” is not a scope of this API.` });
    return id;
  };
  const kept = new Set(idOf.values());
  const grants =
    given === undefined
      ? before.map((one) => ({ ...one, scopeIds: one.scopeIds.filter((id) => kept.has(id)) }))
      : Object.entries(given).map(([clientId, names]) => ({
          clientId,
          scopeIds: sorted(names).map(idOfGiven),
        }));
  return grants.filter(({ scopeIds }) => scopeIds.length > 0);
}

/** @param mode `replace`: what is absent gets its default */
export function withChanges(
  record: ApiRecord,
  changes: ApiChanges,
  mode: 'replace' | 'merge' = 'merge',
): ApiRecord {
  const { isOpenToAgents: wasOpen = false, isDpopRequired: wasBound = false, ...kept } = record;
  const { isOpenToAgents = mode === 'merge' && wasOpen, isDpopRequired = mode === 'merge' && wasBound } =
    changes;
  const base = mode === 'replace' ? { ...kept, ...defaults } : kept;
  const scopes = changes.scopes === undefined ? base.scopes : withIds(changes.scopes, record.scopes);
  const { clients = base.clients } = changes;
  const next: ApiRecord = {
    ...base,
    scopes,
    name: changes.name?.trim() ?? base.name,
    clients: clients === 'all' ? clients : sorted(clients),
    machineGrants: grantsAfter(base.machineGrants, changes.machineGrants, scopes),
    claims: sorted(changes.claims ?? base.claims),
    accessTokenFormat: changes.accessTokenFormat ?? base.accessTokenFormat,
    ...(isOpenToAgents && { isOpenToAgents }),
    ...(isDpopRequired && { isDpopRequired }),
  };
  const gone = record.scopes.map(({ id }) => id).filter((id) => !scopes.some((scope) => scope.id === id));
  if (gone.length > 0) next.endingScopeIds = [...(record.endingScopeIds ?? []), ...gone];
  return withDemands(next, changes.demands ?? {}, mode);
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
