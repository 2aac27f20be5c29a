// Runs a test sign-in ("Try it"): starts it for an administrator, redeems the code and uses the tokens as the application
// would, and revokes everything granted before it shows the outcome. Nothing of it is of use elsewhere: src/oidc/test-sign-in.ts.
import type Koa from 'koa';
import { passingId } from '../../client-ids.ts';
import type { RecordedEvent } from '../../events/index.ts';
import { isMembers } from '../../json.ts';
import type { Answer } from '../../oidc/index.ts';
import { describeToken, type ProtocolDoors } from '../../oidc/index.ts';
import type { Values } from '../pages/page.ts';
import type { SignedInAdmin } from '../pages/signed-in-admin.ts';
import type { TestSignIn, TestSignIns } from './create.ts';

/** The steps in order. Steps that were not reached are absent. */
export interface TestSignInReport {
  readonly started: TestSignIn;
  /** The authorization response: a code, or an error. */
  readonly answer: URLSearchParams;
  readonly token?: Answer;
  readonly userinfo?: Answer;
  readonly introspection?: Values;
}

export type TestSignInRun = ReturnType<typeof createTestSignInRun>;

/** @returns a string member of a JSON object */
export function memberOf(answer: Answer | undefined, name: string): string | undefined {
  const value = objectOf(answer?.body ?? '')?.[name];
  return typeof value === 'string' ? value : undefined;
}

export function objectOf(text: string): Values | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isMembers(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** @returns the OAuth error of the authorization or the token endpoint */
export const errorOf = ({ answer, token }: TestSignInReport): string | undefined => {
  if (token === undefined) return answer.get('error') ?? 'server_error';
  return token.status === 200 ? undefined : (memberOf(token, 'error') ?? 'server_error');
};

/** @returns what was said to the application as it would be without the test */
export const asRegistered = (text: string, { clientId }: Pick<TestSignIn, 'clientId'>): string =>
  text.replaceAll(passingId(clientId), clientId);

export function createTestSignInRun(doors: ProtocolDoors, testSignIns: TestSignIns) {
  const { redeemCode: redeem, tokens, events, issuer } = doors;
  /** The introspection response for an access token. */
  const introspect = async (token: string): Promise<object> =>
    describeToken(await tokens.live(await tokens.find(token)), issuer);

  const write = (event: RecordedEvent['event'], { adminId, clientId }: Starter, more: object) =>
    events.record({
      event,
      actor: { kind: 'user', id: adminId },
      target: { kind: 'client', id: clientId },
      clientId,
      ...more,
    });

  async function used(
    started: TestSignIn,
    code: string,
  ): Promise<Omit<TestSignInReport, 'started' | 'answer'>> {
    const resource = started.query.get('resource') ?? undefined;
    const { token, userinfo } = await redeem({
      clientId: passingId(started.clientId),
      code,
      redirectUri: testSignIns.redirectUri,
      verifier: started.verifier,
      resource,
    });
    const accessToken = memberOf(token, 'access_token');
    if (accessToken === undefined) return { token };
    const described = asRegistered(JSON.stringify(await introspect(accessToken)), started);
    const introspection = objectOf(described) ?? {};
    // A token for an API is no credential at userinfo.
    return { token, introspection, ...(resource === undefined && { userinfo: await userinfo() }) };
  }

  return {
    /** @returns the parameters of the authorization request for this administrator's browser */
    async begin(
      ctx: Koa.Context,
      who: SignedInAdmin,
      clientId: string,
      parameters: Readonly<Record<string, string>>,
    ): Promise<URLSearchParams> {
      const start = { clientId, adminId: who.account.id, sessionUid: who.sessionUid };
      const query = await testSignIns.begin(ctx, start, parameters);
      // Without the login_hint: it is personal data, and may be mistyped.
      const { login_hint: _, ...recorded } = parameters;
      await write('client.trial_started', start, { details: recorded });
      return query;
    },

    /** Handles the callback. @returns undefined when this browser started no test sign-in, or it has expired */
    async finish(ctx: Koa.Context): Promise<TestSignInReport | undefined> {
      const answer = new URLSearchParams(ctx.querystring);
      // RFC 9207 §2.4: a response from another issuer is rejected.
      if (answer.get('iss') !== issuer) return undefined;
      const started = await testSignIns.take(ctx, answer.get('state') ?? '');
      if (started === undefined) return undefined;
      const code = answer.get('code');
      let report: TestSignInReport;
      try {
        report = { started, answer, ...(code !== null && (await used(started, code))) };
      } finally {
        await testSignIns.endGrants(ctx, started.clientId);
      }
      const reason = errorOf(report);
      await write('client.trial_ended', started, {
        outcome: reason === undefined ? 'success' : 'failure',
        reason,
        details: { user_id: report.introspection?.sub },
      });
      return report;
    },
  };
}

type Starter = Pick<TestSignIn, 'adminId' | 'clientId'>;
