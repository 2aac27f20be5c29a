// Dynamic client registration (RFC 7591) and its management by the client (RFC 7592) over HTTP. src/clients decides what may
// be registered; administrators use the admin API.

import type Koa from 'koa';
import {
  type Client,
  type Clients,
  hasToUsePkce,
  publicMetadata,
  readClient,
  toClient,
} from '../../clients/index.ts';
import { AppError } from '../../errors.ts';
import type { Events } from '../../events/index.ts';
import { countedAs } from '../../http/index.ts';
import { isMembers } from '../../json.ts';
import type { AdminActor } from '../tokens/admin-bearer.ts';

export interface RegistrationDeps {
  readonly clients: Pick<
    Clients,
    'create' | 'update' | 'remove' | 'verifyRegistrationToken' | 'verifySecret' | 'initialAccessTokens'
  >;
  readonly events: Pick<Events, 'record' | 'origins'>;
  /** @throws AppError auth.required, auth.invalid_token, auth.insufficient_scope */
  readonly authorizeAdmin: (ctx: Koa.Context) => Promise<Pick<AdminActor, 'kind' | 'isFresh'>>;
  /**
   * Whether anyone may register a client, which then is one that nobody vouched for.
   * @throws AppError request.rate_limited
   */
  readonly admitStranger: (address: string) => Promise<boolean>;
  /** What one calls itself that nobody vouched for. @throws AppError client.invalid_metadata for a name of others */
  readonly checkName: (name: unknown) => Promise<void>;
  /** @throws AppError request.* */
  readonly readJson: (ctx: Koa.Context) => Promise<unknown>;
  /** Path of the registration endpoint in requests, e.g. `/oauth2/register`. */
  readonly path: string;
  /** Its absolute public URL, never derived from the Host header. */
  readonly publicUrl: string;
}

type Members = Record<string, unknown>;
type Handler = (ctx: Koa.Context) => Promise<void>;

// RFC 6750 §2.1. A token in the query or the body is ignored.
const bearer = /^Bearer +([A-Za-z0-9._~+/-]{1,2048}=*)$/i;
const MAX_PROBLEMS = 5;

function bearerOf(ctx: Koa.Context): string {
  const authorization = ctx.get('Authorization');
  if (authorization === '') throw new AppError('auth.required');
  const token = bearer.exec(authorization)?.[1];
  if (token === undefined) throw new AppError('auth.invalid_token');
  return token;
}

const refuse = (fields: Readonly<Record<string, string>>): AppError =>
  new AppError('client.invalid_metadata', { fields });

/**
 * Some client libraries serialise what they leave out as an empty list (Duende.IdentityModel); taken at its word, the client
 * could do nothing. Only at registration: in a change an empty list means empty.
 */
const withoutEmptyTypes = ({
  grant_types: grants,
  response_types: responses,
  ...members
}: Members): Members => ({
  ...members,
  ...(!isEmptyList(grants) && { grant_types: grants }),
  ...(!isEmptyList(responses) && { response_types: responses }),
});

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** RFC 7591 §3.2.2; the description is printable ASCII (RFC 6749 §5.2). */
function refusalBody({ fields = {} }: AppError): object {
  const problems = Object.entries(fields).slice(0, MAX_PROBLEMS);
  const description = problems.map(([name, problem]) => `${name}: ${problem}`).join(' ');
  return {
    error: Object.hasOwn(fields, 'redirect_uris') ? 'invalid_redirect_uri' : 'invalid_client_metadata',
    error_description: description.replaceAll('"', "'").replace(/[^\x20-\x5b\x5d-\x7e]/g, '?'),
  };
}

/** RFC 7591 §3.2.1, RFC 7592 §3: the registered metadata and how to manage it. */
const createInformationOf =
  (publicUrl: string) =>
  (client: Client, token: string, clientSecret: string | undefined): Members => ({
    client_id: client.id,
    client_id_issued_at: Math.floor(client.value.createdAt / 1000),
    ...(clientSecret !== undefined && { client_secret: clientSecret, client_secret_expires_at: 0 }),
    registration_client_uri: `${publicUrl}/${encodeURIComponent(client.id)}`,
    registration_access_token: token,
    ...publicMetadata(client.value),
    require_pkce: hasToUsePkce(client.value),
  });

interface RegistrationHandlers {
  readonly register: Handler;
  /** The client configuration endpoint of one client (RFC 7592 §2). */
  manage(clientId: string): Handler;
}

const createRecord =
  ({ record, origins }: Pick<Events, 'record' | 'origins'>) =>
  (event: 'client.created' | 'client.updated' | 'client.removed', id: string): Promise<void> =>
    record({
      event,
      // Whoever registers is no actor yet; later it is the client itself.
      actor: origins.actor() ?? (event === 'client.created' ? undefined : { kind: 'client', id }),
      target: { kind: 'client', id },
      clientId: id,
      details: { by: 'registration' },
    });

function createHandlers({
  clients,
  events,
  authorizeAdmin,
  admitStranger,
  checkName,
  readJson,
  publicUrl,
}: RegistrationDeps): RegistrationHandlers {
  const informationOf = createInformationOf(publicUrl);
  const record = createRecord(events);

  const readMembers = async (ctx: Koa.Context): Promise<Members> => {
    const body = await readJson(ctx);
    if (!isMembers(body)) throw refuse({ body: 'Must be a JSON object.' });
    return body;
  };

  /** Decision 0026: an agent comes in by the front door, and stays in its room. */
  const registerStranger: Handler = async (ctx) => {
    const metadata = withoutEmptyTypes(await readMembers(ctx));
    await checkName(metadata.client_name);
    const { client, registrationAccessToken = '' } = await clients.create({
      metadata,
      origin: 'registration',
      quarantine: { by: 'registration' },
      hasRegistrationToken: true,
    });
    await record('client.created', client.id);
    ctx.status = 201;
    ctx.body = informationOf(client, registrationAccessToken, undefined);
  };

  const register: Handler = async (ctx) => {
    const isStranger = ctx.get('Authorization') === '' && (await admitStranger(countedAs(ctx)));
    if (isStranger) return registerStranger(ctx);
    const token = bearerOf(ctx);
    const allowed = await clients.initialAccessTokens.findUsable(token);
    if (allowed === undefined) {
      const admin = await authorizeAdmin(ctx);
      // As POST /admin/api/clients, which this is by another address; of programs nobody is asked.
      if (admin.kind === 'user' && (await admin.isFresh?.()) !== true) throw new AppError('auth.stale');
    }
    const members = withoutEmptyTypes(await readMembers(ctx));
    const {
      client,
      clientSecret,
      registrationAccessToken = '',
    } = await clients.create(
      allowed !== undefined
        ? {
            metadata: members,
            // The legacy profile.
            ...(allowed.profile && { settings: { profile: allowed.profile } }),
            origin: 'registration',
            initialAccessToken: token,
            hasRegistrationToken: true,
          }
        : { ...readClient(members), origin: 'admin', hasRegistrationToken: true },
    );
    await record('client.created', client.id);
    ctx.status = 201;
    ctx.body = {
      ...(allowed !== undefined ? {} : toClient(client)),
      ...informationOf(client, registrationAccessToken, clientSecret),
    };
  };

  /** The response is the same for an unknown client, a wrong token and another client's token (RFC 7592 §2). */
  const authorizeClient = async (clientId: string, token: string): Promise<Client> => {
    const client = await clients.verifyRegistrationToken(clientId, token);
    if (client === undefined) throw new AppError('auth.invalid_token');
    return client;
  };

  const read =
    (client: Client, token: string): Handler =>
    async (ctx) => {
      ctx.body = informationOf(client, token, undefined);
    };

  /** RFC 7592 §2.2: replaces all members; id and secret must be unchanged. */
  const replace =
    (client: Client, token: string): Handler =>
    async (ctx) => {
      const { client_id: clientId, client_secret: secret, ...metadata } = await readMembers(ctx);
      if (clientId !== client.id) throw refuse({ client_id: 'Must be the id of this client.' });
      const isSecretValid =
        secret === undefined ||
        secret === null ||
        (typeof secret === 'string' && clients.verifySecret(client.value, secret));
      if (!isSecretValid)
        throw refuse({ client_secret: 'Must be the secret of this client, or be left out.' });
      if (client.value.quarantine !== undefined) await checkName(metadata.client_name);
      const changed = await clients.update(client.id, { metadata, mode: 'replace', authority: 'registrant' });
      await record('client.updated', client.id);
      ctx.body = informationOf(changed.client, token, changed.clientSecret);
    };

  const remove =
    (client: Client): Handler =>
    async (ctx) => {
      await clients.remove(client.id);
      await record('client.removed', client.id);
      ctx.status = 204;
    };

  const manage =
    (clientId: string): Handler =>
    async (ctx) => {
      const token = bearerOf(ctx);
      const client = await authorizeClient(clientId, token);
      const handlers: Readonly<Record<string, Handler>> = {
        GET: read(client, token),
        HEAD: read(client, token),
        PUT: replace(client, token),
        DELETE: remove(client),
      };
      await answerBy(handlers, ctx);
    };

  return { register, manage };
}

/** @returns middleware for the registration endpoint and the client configuration endpoints below it; other requests pass on */
export function registrationRoutes(deps: RegistrationDeps): Koa.Middleware {
  const { path } = deps;
  const { register, manage } = createHandlers(deps);

  return async (ctx, next) => {
    const handler = handlerOf(ctx.path);
    if (handler === undefined) return next();
    ctx.set('Cache-Control', 'no-store');
    ctx.set('Pragma', 'no-cache');
    try {
      await handler(ctx);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      // The client was removed during this request, and its token with it.
      if (error.code === 'client.not_found') throw new AppError('auth.invalid_token', { cause: error });
      if (error.code !== 'client.invalid_metadata') throw error;
      ctx.status = error.status;
      ctx.body = refusalBody(error);
    }
  };

  function handlerOf(requested: string): Handler | undefined {
    if (requested === path) return (ctx) => answerBy({ POST: register }, ctx);
    if (!requested.startsWith(`${path}/`)) return undefined;
    return manage(requested.slice(path.length + 1));
  }
}

async function answerBy(handlers: Readonly<Record<string, Handler>>, ctx: Koa.Context): Promise<void> {
  const handler = Object.hasOwn(handlers, ctx.method) ? handlers[ctx.method] : undefined;
  if (handler !== undefined) return handler(ctx);
  ctx.set('Allow', Object.keys(handlers).join(', '));
  throw new AppError('request.method_not_allowed');
}
