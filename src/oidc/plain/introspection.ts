// Introspection by ADMIN_TOKEN, an API key, or a client or an API with its own credentials (decision 0003).
// Everything else is answered where it always was (tokens/introspection.ts, the library).
import { isIntrospectionClientId } from '../../apis/index.ts';
import type { ProtocolDoors } from '../doors.ts';
import { clientRecord } from '../models/client.ts';
import { mayLearnOf } from '../policies.ts';
import { describeToApi, describeToken, type LiveToken } from '../tokens/token-state.ts';
import type { PlainHandler } from './plain-answers.ts';
import { authenticatePlainly, isReadableBy } from './plain-client.ts';
import { bearerOf, identityOf, type PlainRequest } from './plain-request.ts';

const PARAMETERS = new Set(['token', 'token_type_hint']);

export function introspectPlainly({
  issuer,
  mount,
  sharedTokens: tokens,
  apis,
  accessOfSecret,
}: ProtocolDoors): PlainHandler {
  const find = async (token: string): Promise<LiveToken | undefined> => tokens.live(await tokens.find(token));

  async function asAdmin({ form }: PlainRequest, secret: string): Promise<object | undefined> {
    const token = form.get('token') ?? '';
    const isPlain = token !== '' && [...form.keys()].every((name) => PARAMETERS.has(name));
    if (!isPlain || (await accessOfSecret(secret)) === undefined) return undefined;
    return describeToken(await find(token), issuer);
  }

  return async (request, { origin }) => {
    const secret = bearerOf(request);
    // No page of another origin has these.
    if (secret !== undefined) return origin === undefined ? asAdmin(request, secret) : undefined;
    const identity = identityOf(request, PARAMETERS);
    const token = request.form.get('token');
    // Whoever is public may not ask.
    if (identity?.secret === undefined || token === undefined) return undefined;
    const { id } = identity;
    const api = isIntrospectionClientId(id) ? await apis.authenticate(id, identity.secret) : undefined;
    const client = isIntrospectionClientId(id)
      ? undefined
      : await authenticatePlainly(mount.provider.Client, identity);
    if (api === undefined && client === undefined) return undefined;
    // An API has no scripts.
    const isReadable =
      client === undefined ? origin === undefined : isReadableBy(clientRecord(client), origin);
    if (!isReadable) return undefined;
    if (api !== undefined) return describeToApi(await find(token), api);
    const found = await tokens.find(token);
    if (found === undefined) return describeToken(undefined, issuer);
    if (client === undefined || !mayLearnOf(client, found)) return undefined;
    return describeToken(await tokens.live(found), issuer);
  };
}
