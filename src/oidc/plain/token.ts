// The token endpoint (RFC 6749 §3.2): client credentials (§4.4), codes (§4.1.3) and refresh tokens (§6) of clients with a secret, and
// of public clients. The grant itself is the library's own handler on our models; what is left out is the way there: routing,
// parsing, every other way to authenticate. A request that turns out to be unusual goes there as it came (context.ts).
import type { Client, KoaContextWithOIDC } from 'oidc-provider';
import type { CodeExchanges } from '../../clients/index.ts';
import type { Origins } from '../../events/index.ts';
import { addressOfOrigin, originOf } from '../../http/index.ts';
import type { RateLimits } from '../../rate-limits/index.ts';
import { AlreadyExists, type Store, VersionConflict } from '../../store/port.ts';
import type { IdentityProvider } from '../identity-provider.ts';
import { contextOf } from '../library-context.ts';
import { clientRecord } from '../models/client.ts';
import { noteRedeemed, wasUsed } from '../models/redeemed-codes.ts';
import type { ProtocolMount } from '../mount.ts';
import { inFormOfRequest, reportCodeExchange } from '../provider-middleware.ts';
import { keptWrites, NotPlain, passOn, runPlainly } from './context.ts';
import type { Call, PlainHandler } from './plain-answers.ts';
import { authenticatePlainly, isReadableBy } from './plain-client.ts';
import { CREDENTIALS, identityOf, type PlainRequest } from './plain-request.ts';

interface Deps {
  readonly mount: Pick<ProtocolMount, 'provider'>;
  readonly limits: Pick<RateLimits, 'consume'>;
  readonly origins: Pick<Origins, 'run'>;
  readonly codeExchanges: CodeExchanges;
  readonly store: Pick<Store, 'writeTogether'>;
  readonly isRegisteredOrigin: (origin: string) => Promise<boolean>;
}

const ofEach = ['grant_type', 'resource', 'audience'];

/** What a plain request of each grant type may say. */
const PARAMETERS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['client_credentials', new Set([...ofEach, 'scope'])],
  ['authorization_code', new Set([...ofEach, 'code', 'redirect_uri', 'code_verifier'])],
  ['refresh_token', new Set([...ofEach, 'refresh_token', 'scope'])],
]);

/** Read by the library as well, if it does rich authorization requests (RFC 9396 §6). */
const UNUSUAL: ReadonlySet<string> = new Set(['authorization_details']);

// RFC 6749 §3.3.
const SCOPE = /^[\x21\x23-\x5B\x5D-\x7E]+(?: [\x21\x23-\x5B\x5D-\x7E]+)*$/;

export function tokenPlainly({
  mount,
  limits,
  origins,
  codeExchanges,
  store,
  isRegisteredOrigin,
}: Deps): PlainHandler {
  /** @throws also for a refresh token that was used meanwhile: nothing has happened, and the library knows the grace */
  async function write(ctx: KoaContextWithOIDC): Promise<void> {
    const kept = keptWrites(ctx);
    if (kept === undefined) return;
    const { AuthorizationCode: code } = ctx.oidc.entities;
    try {
      await store.writeTogether((writes) => {
        for (const add of kept) add(writes);
      });
    } catch (error) {
      const isUndone = error instanceof VersionConflict || error instanceof AlreadyExists;
      if (!isUndone) passOn(ctx.req, error);
      // It began before the first one was answered, and its verifier is right. Without one the library meets the used code.
      else if (code?.codeChallenge !== undefined) passOn(ctx.req, wasUsed('AuthorizationCode'));
      throw error;
    }
    if (code !== undefined) noteRedeemed(code.jti, ctx.res);
  }

  async function grant(ctx: KoaContextWithOIDC, provider: IdentityProvider, client: Client): Promise<void> {
    ctx.oidc.entity('Client', client);
    if (!client.grantTypeAllowed(String(ctx.oidc.params?.grant_type))) throw new NotPlain();
    await provider.grant(ctx);
    await write(ctx);
    try {
      provider.emit('grant.success', ctx);
      await reportCodeExchange(ctx, codeExchanges.redeemed);
    } catch (error) {
      passOn(ctx.req, error);
      throw error;
    }
  }

  async function answer(request: PlainRequest, call: Call): Promise<object | undefined> {
    const { form } = request;
    const parameters = PARAMETERS.get(form.get('grant_type') ?? '');
    if (parameters === undefined) return undefined;
    const identity = identityOf(request, parameters, UNUSUAL);
    if (identity === undefined) return undefined;
    // As lib/actions/token.js leaves out what the grant type does not know: a scope beside a code, for example.
    const known = new Map([...form].filter(([name]) => parameters.has(name) || CREDENTIALS.has(name)));
    if (!SCOPE.test(known.get('scope') ?? 'none')) return undefined;
    const { provider } = mount;
    const client = await authenticatePlainly(provider.Client, identity);
    if (client === undefined || !isReadableBy(clientRecord(client), call.origin)) return undefined;
    const ctx = contextOf(provider, call, { form: known, route: 'token' });
    const asked = originOf(call.incoming, call, { clientId: () => client.clientId });
    await origins.run(asked, () => runPlainly(ctx, () => grant(ctx, provider, client)));
    const { body } = ctx;
    return typeof body === 'object' && body !== null ? inFormOfRequest(ctx.oidc, body) : undefined;
  }

  return async (request, call) => {
    // The rule of src/http/rate-middleware.ts: a request counts only when it is refused, which it never is here.
    const counted =
      call.origin === undefined ? call.ip : await addressOfOrigin(call.ip, call.origin, isRegisteredOrigin);
    const charge = await limits.consume('token_ip', counted);
    try {
      return await answer(request, call);
    } finally {
      charge.giveBack();
    }
  };
}
