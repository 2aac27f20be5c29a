// The application registry: creates, changes, removes and finds clients, their secrets and registration tokens. Metadata is
// validated in metadata-rules.ts; application.ts defines what is shown.
import { AppError } from '../errors.ts';
import type { ClientRecord } from '../store/collections.ts';
import { VersionConflict } from '../store/port.ts';
import { pagesOf } from '../store/walk.ts';
import { splitAccountScopes, withAccountScopes, withoutBlankScope } from './account-scopes.ts';
import { type Client, checkKind, type GivenSettings, refusal, withSettings } from './application.ts';
import { approved } from './approved-addresses.ts';
import { clientType, isAuthMethodSaid, needsSecret } from './auth-members.ts';
import { createChangeClient } from './change-client.ts';
import { merged, reservedOf, withinScope } from './changed-members.ts';
import { checkRedirectUris } from './check-redirect-uris.ts';
import type { Clients, ClientsDeps, UpdateClient } from './contract.ts';
import { createInitialAccessTokens } from './initial-access-tokens.ts';
import { hasLegacyProfile, splitLegacy, withLegacy, withLegacyMembers } from './legacy.ts';
import { type Authority, isStringList } from './metadata-rules.ts';
import { createIsOwnAddress } from './own-addresses.ts';
import { checkPkceChoice, splitRegistrantPkce } from './pkce.ts';
import { prepareMetadata, withUnknownMembers } from './prepare.ts';
import { checkQuarantine, confined, confinedMembers, statementOf } from './quarantine.ts';
import { checkRotation } from './refresh-rotation.ts';
import { isSameDigest, isSecretOf, rotated, SECRET_BYTES } from './secrets.ts';

type Said = { readonly [Name in 'metadata' | 'settings' | 'document']?: UpdateClient[Name] | undefined };

interface Given extends Said, Pick<UpdateClient, 'mode'> {
  readonly kind: Authority['kind'];
  readonly isNew?: boolean;
}

export function createClients(deps: ClientsDeps): Clients {
  const { collection, clock, newId, newSecret, secretDigest, validateMetadata, endClient } = deps;
  const initialAccessTokens = createInitialAccessTokens({
    collection: deps.initialAccessTokens,
    clock,
    newSecret,
    secretDigest,
  });

  const change = createChangeClient({ collection, clock });

  const hasLegacy = (): boolean => deps.hasLegacyProfiles?.() === true;

  /** As it may be used now. */
  const seen = (client: Client): Client => {
    const value = withLegacy(confined(client.value, deps.isOpenToAgents?.() === true), hasLegacy());
    return value === client.value ? client : { ...client, value };
  };

  function withSecret(record: ClientRecord): { record: ClientRecord; clientSecret?: string } {
    if (!needsSecret(record.metadata)) return { record: { ...record, secrets: [] } };
    if (record.secrets.length > 0) return { record };
    const clientSecret = newSecret(SECRET_BYTES);
    const secrets = rotated([], secretDigest(clientSecret), clock(), 0);
    return { record: { ...record, secrets }, clientSecret };
  }

  const isOwnAddress = deps.baseUrl === undefined ? undefined : createIsOwnAddress(deps.baseUrl);
  // The client of our own pages redirects back to them.
  const ownAddressesFor = (origin: ClientRecord['origin']) => (origin === 'seed' ? undefined : isOwnAddress);

  /** @throws AppError client.invalid_metadata */
  async function settled(record: ClientRecord, given: GivenSettings): Promise<ClientRecord> {
    const next = withSettings(record, given);
    const { allowed_groups: groups, default_resource: identifier } = given;
    const missing = groups ? ((await deps.missingGroups?.(next.allowedGroups ?? [])) ?? []) : [];
    if (missing.length > 0)
      throw refusal({ allowed_groups: `Group not found: ${missing.slice(0, 5).join(', ')}.` });
    if (typeof identifier !== 'string') return next;
    const defaultApi = await deps.findApi?.(identifier);
    if (defaultApi === undefined) throw refusal({ default_resource: 'API not found.' });
    return { ...next, defaultApi };
  }

  /**
   * @param value as it is stored, or for a new one what every application begins with
   * @returns the record with what is given, by all rules
   * @throws AppError client.invalid_metadata
   */
  async function written(value: ClientRecord, { isNew = false, ...given }: Given): Promise<ClientRecord> {
    const { mode, kind, settings: said = {} } = given;
    const isRegistrant = kind === 'registrant';
    const { metadata: stored } = value;
    checkKind(value, given.metadata);
    const { metadata: others, ...accountChange } = splitAccountScopes(
      mode === 'replace' ? withoutBlankScope(given.metadata) : given.metadata,
    );
    const { metadata: plain, legacy } = others
      ? splitLegacy(others, { isOn: hasLegacy(), kind })
      : { metadata: others, legacy: undefined };
    const { metadata: input, ...choice } =
      isRegistrant && plain ? splitRegistrantPkce(plain, value) : { metadata: plain };
    const settings = { ...said, ...choice };
    // What a registrant asks for at first is its choice, whatever is required of it.
    const applied = await settled(isNew ? { ...value, origin: 'admin' } : value, settings);
    const wished = input && (mode === 'replace' ? input : merged(stored, input));
    const near = wished && value.quarantine && isRegistrant ? confinedMembers(wished) : wished;
    // Users are not asked for consent there, so only an administrator may widen what such a client gets.
    const members = near && isRegistrant && value.skipConsent ? withinScope(stored, near) : near;
    const authority: Authority = {
      kind,
      keeps: reservedOf(stored),
      isOwnAddress: ownAddressesFor(value.origin),
      mayBePlain: deps.mayBePlain,
    };
    const metadata = members
      ? withUnknownMembers(
          stored,
          await prepareMetadata(stored.client_id, members, authority, validateMetadata),
        )
      : stored;
    const base = {
      ...applied,
      origin: value.origin,
      metadata,
      clientType: clientType(metadata),
      ...(value.quarantine && { quarantine: { ...value.quarantine, ...given.document } }),
    };
    const whole = withLegacyMembers(base, { before: value.legacyMetadata, legacy, mode, kind, isOwnAddress });
    const open = withAccountScopes(whole, { ...accountChange, before: value.accountScopes, mode, kind });
    const { approved_addresses: chosen } = settings;
    const vouched = approved(
      isNew ? undefined : value,
      open,
      kind,
      isStringList(chosen) ? chosen : undefined,
    );
    const changed = { ...open, ...vouched };
    if (!isNew && changed.quarantine !== undefined && !isRegistrant) checkQuarantine(changed, value);
    const next = confined(changed);
    // What was read and is sent back is no choice: a client that uses the other method goes on working.
    if (input !== undefined && isAuthMethodSaid(input)) {
      const { token_endpoint_auth_method: said } = input;
      const { token_endpoint_auth_method: method } = stored;
      if (said !== method) next.hasChosenAuthMethod = true;
    } else if (input !== undefined && mode === 'replace') delete next.hasChosenAuthMethod;
    checkPkceChoice(next, settings.require_pkce);
    checkRotation(next);
    return next;
  }

  /** Revokes what was granted to it. @returns the client afterwards */
  async function finishEnding(client: Client): Promise<Client> {
    await endClient(client.id);
    const { isEnding: _, ...value } = client.value;
    try {
      return await collection.replace(client.id, client.version, value);
    } catch (error) {
      // Changed or removed meanwhile: that caller, or the job, finishes this too.
      if (error instanceof VersionConflict) return client;
      throw error;
    }
  }

  return {
    initialAccessTokens,

    async find(clientId) {
      const client = await collection.find(clientId);
      return client && seen(client);
    },

    async findShared(clientId) {
      const client = await (collection.findShared ?? collection.find)(clientId);
      return client && seen(client);
    },

    async query(query) {
      const { items, total } = await collection.query(query);
      return { items: items.map(seen), total };
    },

    checkRedirectUris: (asked) =>
      checkRedirectUris(asked, { kind: 'administrator', isOwnAddress }, validateMetadata),

    findLegacy: async () =>
      (await collection.findBy('profile', 'legacy'))
        .map(seen)
        .filter(({ value }) => value.isActive && hasLegacyProfile(value)),

    hasSignedResponses: async () => (await collection.findBy('signed_responses', 'yes')).length > 0,
    hasAccountScopes: async () => (await collection.findBy('account_scopes', 'given')).length > 0,
    hasPasswordGrant: async () => (await collection.findBy('password_grant', 'yes')).length > 0,

    async create({ metadata: sent, settings, origin, hasRegistrationToken, ...rest }) {
      const { quarantine } = rest;
      if (rest.clientId !== undefined && origin !== 'seed' && quarantine?.by !== 'document')
        throw new TypeError('client ids are not chosen');
      const clientId = rest.clientId ?? newId();
      // Its ID tokens would pass for access tokens of the API.
      if (rest.clientId !== undefined && (await deps.findApi?.(clientId)) !== undefined)
        throw refusal({ client_id: 'Must not be the identifier of an API.' });
      const now = clock();
      const bare: ClientRecord = {
        metadata: { client_id: clientId },
        secrets: [],
        clientType: 'confidential',
        isActive: true,
        skipConsent: false,
        accessTokenAudience: 'issuer',
        rotateRefreshTokens: 'auto',
        origin,
        createdAt: now,
        updatedAt: now,
        ...(quarantine && { quarantine }),
      };
      const metadata =
        quarantine === undefined ? sent : confinedMembers({ token_endpoint_auth_method: 'none', ...sent });
      const kind = origin === 'registration' ? 'registrant' : 'administrator';
      const whole = await written(bare, { metadata, settings, mode: 'replace', kind, isNew: true });
      const { record, clientSecret } = withSecret(whole);
      const registrationAccessToken = hasRegistrationToken ? newSecret(SECRET_BYTES) : undefined;
      if (registrationAccessToken) record.registrationTokenDigest = secretDigest(registrationAccessToken);
      // After all other checks, so that an invalid request uses up nothing; before the insert, so that a race creates nothing.
      const token = rest.initialAccessToken;
      if (token !== undefined && !(await initialAccessTokens.consume(token))) {
        throw new AppError('auth.invalid_token');
      }
      const client = await collection.insert(clientId, record);
      return {
        client: seen(client),
        ...(clientSecret && { clientSecret }),
        ...(registrationAccessToken && { registrationAccessToken }),
      };
    },

    async update(clientId, { metadata, mode, settings, authority: kind, document, ...rest }) {
      let made: string | undefined;
      const { before: was, after: client } = await change(clientId, rest, async (value) => {
        const next = await written(value, { metadata, mode, settings, kind, document });
        // Grants given without consent must not survive when consent becomes required.
        const requiresConsent = value.skipConsent && !next.skipConsent;
        // Recorded in the same write, so that a retry or the job finishes after a crash.
        const isAnother = statementOf(value) !== statementOf(next);
        // What its credential protected, nothing would.
        const becomesPublic = value.clientType !== 'public' && next.clientType === 'public';
        if ((value.isActive && !next.isActive) || requiresConsent || isAnother || becomesPublic)
          next.isEnding = true;
        const { record, clientSecret } = withSecret(next);
        made = clientSecret;
        return record;
      });
      return {
        before: seen(was),
        client: seen(client.value.isEnding === true ? await finishEnding(client) : client),
        ...(made && { clientSecret: made }),
      };
    },

    async rotateSecret(clientId, { overlapSeconds = 0, ifVersion } = {}) {
      const clientSecret = newSecret(SECRET_BYTES);
      const { after: client } = await change(clientId, { ifVersion }, (value) => {
        if (!needsSecret(value.metadata)) {
          const problem = 'With this method the application has no secret.';
          throw refusal({ token_endpoint_auth_method: problem });
        }
        return {
          ...value,
          secrets: rotated(value.secrets, secretDigest(clientSecret), clock(), overlapSeconds),
        };
      });
      return { client: seen(client), clientSecret };
    },

    async remove(clientId, options = {}) {
      // Deactivate first, then clean up: a crash in between leaves an application that can do nothing and can be removed again.
      const { before } = await change(clientId, options, (value) => {
        const { registrationTokenDigest: _, ...kept } = value;
        return { ...kept, isActive: false, secrets: [] };
      });
      await endClient(clientId);
      await deps.clientRemoving?.(clientId);
      await collection.remove(clientId);
      return seen(before);
    },

    async finishEndings() {
      const isOff = { field: 'is_active', op: 'eq', value: false } as const;
      let count = 0;
      for await (const items of pagesOf(collection, { filters: [isOff], limit: 1000 })) {
        for (const { id } of items) await endClient(id);
        count += items.length;
      }
      const ending = await collection.findBy('ending', 'yes');
      for (const client of ending) await finishEnding(client);
      return count + ending.length;
    },

    async verifyRegistrationToken(clientId, token) {
      const presented = secretDigest(token);
      const client = await collection.find(clientId);
      const isMatch = isSameDigest(client?.value.registrationTokenDigest ?? secretDigest(''), presented);
      const usable = client && seen(client);
      return isMatch && token !== '' && usable?.value.isActive ? usable : undefined;
    },

    verifySecret: (record, presented, now = clock()) => isSecretOf(record, presented, now, secretDigest),
  };
}
