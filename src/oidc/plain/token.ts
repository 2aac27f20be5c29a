// The token endpoint (RFC 6749 §3.2) for client credentials (§4.4) with a secret. The grant itself is the library's own handler on our
// models; what is left out is the way there: routing, parsing, every other way to authenticate. Codes and refresh tokens go that
// way: beside their signatures and writes it is too little to be worth a second one (docs/performance.md).
import { addressOfOrigin, originOf } from '../../http/index.ts';
import type { ProtocolDoors } from '../doors.ts';
import { answerGrant, contextOf, runIn } from '../library-internals.ts';
import { clientRecord } from '../models/client.ts';
import { inFormOfRequest } from '../provider-middleware.ts';
import type { Call, PlainHandler } from './plain-answers.ts';
import { authenticatePlainly, isReadableBy } from './plain-client.ts';
import { CREDENTIALS, identityOf, type PlainRequest } from './plain-request.ts';

const GRANT_TYPE = 'client_credentials';
const PARAMETERS: ReadonlySet<string> = new Set(['grant_type', 'resource', 'audience', 'scope']);

/** Read by the library as well, if it does rich authorization requests (RFC 9396 §6). */
const UNUSUAL: ReadonlySet<string> = new Set(['authorization_details']);

// RFC 6749 §3.3.
const SCOPE = /^[\x21\x23-\x5B\x5D-\x7E]+(?: [\x21\x23-\x5B\x5D-\x7E]+)*$/;

export function tokenPlainly({
  mount,
  limits,
  events: { origins },
  isRegisteredOrigin,
}: ProtocolDoors): PlainHandler {
  async function answer(request: PlainRequest, call: Call): Promise<object | undefined> {
    const identity = identityOf(request, PARAMETERS, UNUSUAL);
    // Whoever is public has no token of its own.
    if (identity?.secret === undefined) return undefined;
    // As lib/actions/token.js leaves out what the grant type does not know: a code, for example.
    const known = new Map(
      [...request.form].filter(([name]) => PARAMETERS.has(name) || CREDENTIALS.has(name)),
    );
    if (!SCOPE.test(known.get('scope') ?? 'none')) return undefined;
    const { provider } = mount;
    const client = await authenticatePlainly(provider.Client, identity);
    if (client?.grantTypeAllowed(GRANT_TYPE) !== true) return undefined;
    if (!isReadableBy(clientRecord(client), call.origin)) return undefined;
    const ctx = contextOf(provider, call, { form: known, route: 'token' });
    const asked = originOf(call.incoming, call, { clientId: () => client.clientId });
    await origins.run(asked, () =>
      runIn(ctx, async () => {
        ctx.oidc.entity('Client', client);
        await answerGrant(provider, ctx);
        provider.emit('grant.success', ctx);
      }),
    );
    const { body } = ctx;
    return typeof body === 'object' && body !== null ? inFormOfRequest(ctx.oidc, body) : undefined;
  }

  return async (request, call) => {
    if (request.form.get('grant_type') !== GRANT_TYPE) return undefined;
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
