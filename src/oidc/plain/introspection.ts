// Introspection of an active access token by a client or an API with its own credentials (decisions §3). Everything else, inactive
// tokens included, is answered where it always was (tokens/introspection.ts, the library).
import { type Apis, isIntrospectionClientId } from '../../apis/index.ts';
import { clientRecord } from '../models/client.ts';
import type { ProtocolMount } from '../mount.ts';
import { mayLearnOf } from '../policies.ts';
import { describeToApi, describeToken, type TokenState } from '../tokens/token-state.ts';
import type { PlainHandler } from './plain-answers.ts';
import { authenticatePlainly, isReadableBy } from './plain-client.ts';
import { identityOf } from './plain-request.ts';

interface Deps {
  readonly issuer: string;
  readonly mount: Pick<ProtocolMount, 'provider'>;
  readonly tokens: TokenState;
  readonly apis: Pick<Apis, 'authenticate'>;
}

const PARAMETERS = new Set(['token', 'token_type_hint']);

export const introspectPlainly =
  ({ issuer, mount, tokens, apis }: Deps): PlainHandler =>
  async (request, { origin }) => {
    const identity = identityOf(request, PARAMETERS);
    const token = request.form.get('token');
    // Whoever is public may not ask.
    if (identity?.secret === undefined || token === undefined) return undefined;
    const { id, secret } = identity;
    const api = isIntrospectionClientId(id) ? await apis.authenticate(id, secret) : undefined;
    const client = isIntrospectionClientId(id)
      ? undefined
      : await authenticatePlainly(mount.provider.Client, identity);
    if (api === undefined && client === undefined) return undefined;
    // An API has no scripts.
    const isReadable =
      client === undefined ? origin === undefined : isReadableBy(clientRecord(client), origin);
    if (!isReadable) return undefined;
    const live = await tokens.live(await tokens.find(token));
    if (live === undefined || live.token.kind === 'RefreshToken') return undefined;
    if (api !== undefined) {
      const seen = describeToApi(live, api);
      return seen.active === true ? seen : undefined;
    }
    return client !== undefined && mayLearnOf(client, live.token) ? describeToken(live, issuer) : undefined;
  };
