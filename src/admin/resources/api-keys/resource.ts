// API keys: bearer credentials for programs that use the admin API. src/oidc/tokens/admin-bearer.ts decides what a key may do.
import type { ApiKey } from '../../../clients/index.ts';
import { AppError, invalid } from '../../../errors.ts';
import { type ApiKeyOwner, type ApiKeyRecord, apiKeys as collection } from '../../../store/administration.ts';
import { defineResource } from '../../api/define-resource.ts';
import type { ListDefinition } from '../../api/list-query.ts';
import type { Actor } from '../../api/ports.ts';
import {
  array,
  createdAt,
  expiresAt,
  integer,
  object,
  oneOf,
  optional,
  string,
  stringOrNull,
  timestampOrNull,
} from '../../api/schema-parts.ts';
import { atVersion, idParams } from '../../api/shared.ts';

const list: ListDefinition<ApiKeyRecord> = {
  name: 'api-keys',
  collection,
  sorts: ['created_at', 'last_used_at', 'name', 'id'],
  defaultOrder: 'desc',
  searches: ['name'],
  times: ['created_at', 'last_used_at'],
};

const DEFAULT_EXPIRY_SECONDS = 90 * 86_400;
const MAX_EXPIRY_SECONDS = 366 * 86_400;
const scope = () => oneOf(['admin', 'admin:read']);
const scopesMeaning = '`admin`: full access; `admin:read`: read-only access.';

const shown = {
  id: string('Identifies the key; it is not the key itself.'),
  name: string({
    description: 'For example, the program that uses the key.',
    examples: ['Nightly export'],
  }),
  scopes: array(scope(), scopesMeaning),
  owner_kind: oneOf(
    ['user', 'client', 'installation'],
    'The kind of owner. A key never allows more than its owner currently may do.',
  ),
  owner_id: stringOrNull(
    'The ID of the user or application; null: the key belongs to the installation and has no owner.',
  ),
  created_by: string('Who created it, as `kind:id`, for example `user:7f1c9f0e-…`.'),
  created_at: createdAt(),
  expires_at: expiresAt(),
  last_used_at: timestampOrNull('When it was last used, to a quarter of an hour; null: never.'),
};

export const apiKeySchema = object(shown, 'An API key without its value.');
const newApiKeySchema = object({
  name: string({
    minLength: 1,
    maxLength: 200,
    description: 'For example, the program that uses the key.',
    examples: ['Nightly export'],
  }),
  scopes: optional(
    array(scope(), {
      minItems: 1,
      maxItems: 2,
      uniqueItems: true,
      default: ['admin:read'],
      description: scopesMeaning,
    }),
  ),
  owner: optional(
    oneOf(
      ['self', 'installation'],
      '`self`: the caller, whose permissions limit the key; `installation`: no user, for programs that must keep working when users leave. ' +
        'Only an administrator who signed in within the last five minutes can create a key of the installation. ' +
        'Default: `self`; with ADMIN_TOKEN, which belongs to no user: `installation`.',
    ),
  ),
  expires_in_seconds: optional(
    integer({
      minimum: 60,
      maximum: MAX_EXPIRY_SECONDS,
      default: DEFAULT_EXPIRY_SECONDS,
      description: 'How long the key is valid, in seconds.',
    }),
  ),
});
const createdApiKeySchema = object(
  { ...shown, api_key: string('The bearer token; only this response contains it.') },
  'The new API key.',
);

const ownerKindOf = ({ owner }: ApiKey): ApiKeyOwner['kind'] | 'installation' =>
  owner?.kind ?? 'installation';

const show = (key: ApiKey) => ({
  id: key.id,
  name: key.name,
  scopes: [...key.scopes],
  owner_kind: ownerKindOf(key),
  owner_id: key.owner?.id ?? null,
  created_by: key.createdBy,
  created_at: new Date(key.createdAt).toISOString(),
  expires_at: new Date(key.expiresAt).toISOString(),
  last_used_at: key.lastUsedAt === undefined ? null : new Date(key.lastUsedAt).toISOString(),
});

const notOfInstallation = (message: string): AppError => new AppError('auth.stale', { message });

/**
 * A key or an application cannot create a key that outlives its creator.
 * @param creator finds the key that the caller authenticated with
 * @throws AppError auth.stale
 */
async function ownerFor(
  { kind, id, isFresh }: Actor,
  wanted: 'self' | 'installation' | undefined,
  creator: (id: string) => Promise<ApiKey | undefined>,
): Promise<ApiKeyOwner | null> {
  if (kind === 'bootstrap') {
    if (wanted !== 'self') return null;
    const problem = 'ADMIN_TOKEN belongs to no user: its keys belong to the installation.';
    throw invalid({ owner: problem });
  }
  if (kind === 'user' && wanted === 'installation') {
    if ((await isFresh?.()) === true) return null;
    throw notOfInstallation(
      'Sign in again: a key of the installation needs a sign-in of the last five minutes.',
    );
  }
  if (wanted === 'installation')
    throw notOfInstallation('Only an administrator creates a key of the installation.');
  if (kind !== 'api_key') return { kind, id };
  const owner = (await creator(id))?.owner;
  if (!owner) throw notOfInstallation('Only an administrator creates a key of the installation.');
  return owner;
}

/**
 * Prevents a stolen key that expires in an hour from creating one that is valid for a year.
 * @returns seconds
 * @throws AppError request.invalid
 */
async function lifetimeFor(
  { kind, id }: Actor,
  wanted: number | undefined,
  creator: (id: string) => Promise<ApiKey | undefined>,
  now: number,
): Promise<number> {
  if (kind !== 'api_key') return wanted ?? DEFAULT_EXPIRY_SECONDS;
  const left = Math.floor(((await creator(id))?.expiresAt ?? now) / 1000 - now / 1000);
  if (wanted !== undefined && wanted > left) {
    const problem = `Must be at most ${left}: no key outlives the key that creates it.`;
    throw invalid({ expires_in_seconds: problem });
  }
  return wanted ?? Math.min(DEFAULT_EXPIRY_SECONDS, left);
}

export const apiKeys = defineResource(
  {
    path: '/api-keys',
    tag: 'API keys',
    target: 'api_key',
    view: apiKeySchema,
    present: (keys: readonly ApiKey[]) => keys.map(show),
    versionOf: ({ version }) => version,
  },
  (on) => ({
    create: on.create({
      summary: 'Create an API key; only this response contains its value',
      event: 'api_key.created',
      isBodyShown: true,
      body: newApiKeySchema,
      answer: createdApiKeySchema,
      hasVersion: true,
      async run({ body, actor }, { apiKeys, clock }) {
        const { value, apiKey } = await apiKeys.create({
          name: body.name,
          scopes: body.scopes ?? ['admin:read'],
          expiresInSeconds: await lifetimeFor(actor, body.expires_in_seconds, apiKeys.find, clock()),
          createdBy: `${actor.kind}:${actor.id}`,
          owner: await ownerFor(actor, body.owner, apiKeys.find),
        });
        return { data: { ...show(apiKey), api_key: value }, version: apiKey.version, id: apiKey.id };
      },
    }),
    list: on.list({
      summary: 'List API keys that have not expired',
      list,
      query: (wanted, { apiKeys }) => apiKeys.query(wanted),
      recordOf: (key) => key,
    }),
    read: on.read({
      summary: 'Read the metadata of an API key',
      find: (id, { apiKeys }) => apiKeys.find(id),
      missing: 'api_key.not_found',
    }),
    remove: on.remove({
      summary: 'Revoke an API key, effective from the next request',
      event: 'api_key.revoked',
      params: idParams,
      async run({ params: { id }, ifVersion }, { apiKeys }) {
        if (ifVersion !== undefined) atVersion(await apiKeys.find(id), 'api_key.not_found', ifVersion);
        await apiKeys.remove(id);
      },
    }),
  }),
);
