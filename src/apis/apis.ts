// The registry of APIs (decision 0026): creates, changes, removes and finds them, and checks the credentials with which they
// introspect.
import { isSecretOf, rotated, SECRET_BYTES } from '../clients/index.ts';
import { AppError, invalid } from '../errors.ts';
import { newId, newSecret, secretDigest } from '../ids.ts';
import { type ApiRecord, identifierKey } from '../store/apis.ts';
import { AlreadyExists } from '../store/port.ts';
import { update } from '../store/update.ts';
import { withChanges } from './change-api.ts';
import type { Api, ApiChanges, Apis, ApisDeps } from './contract.ts';
import { identifierProblem } from './identifier.ts';
import { scopesProblem } from './scopes.ts';

const PREFIX = 'api-';

/** Whether it may be the introspection client id of an API. No application has such an id. */
export const isIntrospectionClientId = (text: string): boolean => text.startsWith(PREFIX);

/** Validators that ignore a slash at the end would take the one for the other. */
const withoutSlashes = (text: string): string => text.replace(/\/+$/, '');

const live = (stored: Api | undefined): Api | undefined =>
  stored?.value.removingAt === undefined ? stored : undefined;

export function createApis(deps: ApisDeps): Apis {
  const { collection, clock, clients } = deps;

  async function identifierRefusal(identifier: string): Promise<string | undefined> {
    const problem = identifierProblem(identifier);
    if (problem !== undefined) return problem;
    const key = identifierKey(identifier);
    if (withoutSlashes(key) === withoutSlashes(deps.issuer)) return 'Must not be the issuer of this server.';
    // As ids of applications they are two.
    const found = await Promise.all([clients.find(key), clients.find(`${key}/`)]);
    // Its ID tokens would pass for access tokens of the API.
    return found.some((client) => client !== undefined)
      ? 'Must not be the client ID of an application.'
      : undefined;
  }

  /** @returns the first application that cannot be named, and why; those that are named already stay */
  async function clientRefusal(changes: ApiChanges, before: ApiRecord | undefined) {
    const named = [
      ...(changes.clients === undefined || changes.clients === 'all' ? [] : changes.clients),
      ...Object.keys(changes.machine_grants ?? {}),
    ];
    const known = new Set([
      ...(before === undefined || before.clients === 'all' ? [] : before.clients),
      ...(before?.machineGrants ?? []).map(({ clientId }) => clientId),
    ]);
    const added = [...new Set(named)].filter((id) => !known.has(id));
    const found = await Promise.all(added.map((id) => clients.find(id)));
    const at = found.findIndex((client) => client === undefined || client.value.quarantine !== undefined);
    const id = added[at];
    if (id === undefined) return undefined;
    const problem =
      found[at] === undefined ? 'Application not found' : 'No administrator vouches for this application';
    return { id, problem: `${problem}: ${id}.` };
  }

  async function check(changes: ApiChanges, before?: ApiRecord): Promise<void> {
    const { scopes } = changes;
    const problem = scopes === undefined ? undefined : scopesProblem(scopes, before?.scopes);
    if (problem !== undefined) throw invalid({ scopes: problem });
    const groups = [...new Set(scopes?.flatMap((scope) => scope.groups ?? []))];
    const missing = groups.length === 0 ? [] : await deps.missingGroups(groups);
    if (missing.length > 0) throw invalid({ scopes: `Group not found: ${missing.slice(0, 5).join(', ')}.` });
    const refused = await clientRefusal(changes, before);
    if (refused === undefined) return;
    const isListed = changes.clients !== 'all' && changes.clients?.includes(refused.id) === true;
    throw invalid({ [isListed ? 'clients' : 'machine_grants']: refused.problem });
  }

  async function get(id: string, ifVersion: number | undefined): Promise<Api> {
    const api = live(await collection.find(id));
    if (api === undefined) throw new AppError('api.not_found');
    if (ifVersion !== undefined && ifVersion !== api.version) throw new AppError('api.changed');
    return api;
  }

  async function change(
    id: string,
    ifVersion: number | undefined,
    next: (record: ApiRecord) => ApiRecord,
  ): Promise<Api> {
    const changed = await update(collection, id, (value, { version }) => {
      if (value.removingAt !== undefined) throw new AppError('api.not_found');
      if (ifVersion !== undefined && ifVersion !== version) throw new AppError('api.changed');
      return { value: { ...next(value), updatedAt: clock() } };
    });
    if (changed === undefined) throw new AppError('api.not_found');
    return changed;
  }

  async function finishRemoval(id: string): Promise<void> {
    await deps.apiRemoving(id);
    await collection.remove(id);
  }

  /** Revokes what the scopes that it has no longer gave. @returns the API afterwards */
  async function finishScopes(api: Api): Promise<Api> {
    const { endingScopeIds: ending = [] } = api.value;
    if (ending.length === 0) return api;
    await deps.scopesRemoving(api.id, ending);
    const ended = await update(collection, api.id, ({ endingScopeIds = [], ...value }) => {
      // Others may have been added meanwhile; who added them finishes them.
      const left = endingScopeIds.filter((id) => !ending.includes(id));
      return { value: left.length > 0 ? { ...value, endingScopeIds: left } : value };
    });
    return ended ?? api;
  }

  return {
    find: async (id) => live(await collection.find(id)),

    async findByIdentifier(identifier) {
      const [found] = await collection.findBy('identifier', identifierKey(identifier));
      return live(found);
    },

    async authenticate(introspectionClientId, secret) {
      const [found] = await collection.findBy('introspection_client', introspectionClientId);
      const api = live(found);
      // Compared in any case, so that an unknown id takes as long as a wrong secret.
      const secrets = api?.value.secrets ?? [{ digest: secretDigest(''), createdAt: 0, expiresAt: 0 }];
      return isSecretOf({ secrets }, secret, clock(), secretDigest) ? api : undefined;
    },

    query: (query) =>
      collection.query({
        ...query,
        filters: [...(query.filters ?? []), { field: 'is_removing', op: 'eq', value: false }],
      }),

    async create(identifier, fields) {
      const problem = await identifierRefusal(identifier);
      if (problem !== undefined) throw invalid({ identifier: problem });
      await check(fields);
      const now = clock();
      const introspectionSecret = newSecret(SECRET_BYTES);
      const blank: ApiRecord = {
        identifier,
        name: identifier,
        scopes: [],
        clients: 'all',
        machineGrants: [],
        claims: [],
        accessTokenFormat: 'at+jwt',
        introspectionClientId: `${PREFIX}${newId()}`,
        secrets: rotated([], secretDigest(introspectionSecret), now, 0),
        createdAt: now,
        updatedAt: now,
      };
      try {
        return { api: await collection.insert(newId(), withChanges(blank, fields)), introspectionSecret };
      } catch (error) {
        if (!(error instanceof AlreadyExists)) throw error;
        throw new AppError('api.identifier_taken', {
          cause: error,
          fields: { identifier: 'An API with this identifier already exists.' },
        });
      }
    },

    async update(id, changes, { mode, ifVersion }) {
      const { value } = await get(id, ifVersion);
      await check(changes, value);
      return finishScopes(await change(id, ifVersion, (record) => withChanges(record, changes, mode)));
    },

    async rotateSecret(id, { overlapSeconds = 0, ifVersion } = {}) {
      const introspectionSecret = newSecret(SECRET_BYTES);
      const digest = secretDigest(introspectionSecret);
      const api = await change(id, ifVersion, (record) => ({
        ...record,
        secrets: rotated(record.secrets, digest, clock(), overlapSeconds),
      }));
      return { api, introspectionSecret };
    },

    async remove(id, { ifVersion } = {}) {
      // From here on it is not found; the record goes last, so that the job finds what was interrupted.
      await change(id, ifVersion, (record) => ({ ...record, secrets: [], removingAt: clock() }));
      await finishRemoval(id);
    },

    async finishEndings() {
      const ending = await collection.findBy('ending', 'yes');
      for (const api of ending) {
        await (live(api) === undefined ? finishRemoval(api.id) : finishScopes(api));
      }
      return ending.length;
    },
  };
}
