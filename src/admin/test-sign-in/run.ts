// Runs a test sign-in ("Try it"): starts it for an administrator, redeems the code and uses the tokens as the application
// would, and revokes everything granted before it shows the outcome. Nothing of it is of use elsewhere: src/oidc/test-sign-in.ts.

import type Koa from 'koa';
import { passingId } from '../../client-ids.ts';
import type { Events, RecordedEvent } from '../../events/index.ts';
import { isMembers } from '../../json.ts';
import type { Answer, RedeemCode } from '../../oidc/index.ts';
import type { Values } from '../pages/page.ts';
import type { SignedInAdmin } from '../pages/signed-in-admin.ts';
import type { TestSignIn, TestSignIns } from './started.ts';

/** The steps in order. Steps that were not reached are absent. */
export interface TestSignInReport {
  readonly started: TestSignIn;
  /** The authorization response: a code, or an error. */
  readonly answer: URLSearchParams;
  readonly token?: Answer;
  readonly userinfo?: Answer;
  readonly introspection?: Values;
}

export interface TestSignInRun {
  /** @returns the parameters of the authorization request for this administrator's browser */
  begin(
    ctx: Koa.Context,
    who: SignedInAdmin,
    clientId: string,
    parameters: Readonly<Record<string, string>>,
  ): Promise<URLSearchParams>;
  /** Handles the callback. @returns undefined when this browser started no test sign-in, or it has expired */
  finish(ctx: Koa.Context): Promise<TestSignInReport | undefined>;
}

export interface TestSignInRunDeps {
  readonly started: TestSignIns;
  readonly redirectUri: string;
  readonly browserOf: (ctx: Koa.Context) => string | undefined;
  readonly isAdministrator: (accountId: string) => Promise<boolean>;
  readonly redeem: RedeemCode;
  /** The introspection response for an access token. */
  readonly introspect: (accessToken: string) => Promise<object>;
  /** Revokes all grants of the application's test sign-ins in this browser's session. */
  readonly endGrants: (ctx: Koa.Context, clientId: string) => Promise<void>;
  readonly events: Pick<Events, 'record'>;
  readonly issuer: string;
}

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

export function createTestSignInRun(deps: TestSignInRunDeps): TestSignInRun {
  const { redirectUri, browserOf, isAdministrator, events } = deps;

  const write = (event: RecordedEvent['event'], { adminId, clientId }: TestSignIn | Starter, more: object) =>
    events.record({
      event,
      actor: { kind: 'user', id: adminId },
      target: { kind: 'client', id: clientId },
      clientId,
      ...more,
    });

  async function redeem(
    ctx: Koa.Context,
    started: TestSignIn,
    code: string,
  ): Promise<Omit<TestSignInReport, 'started'>> {
    const answer = new URLSearchParams(ctx.querystring);
    const { token, userinfo } = await deps.redeem({
      clientId: passingId(started.clientId),
      code,
      redirectUri,
      verifier: started.verifier,
      resource: started.query.get('resource') ?? undefined,
    });
    const accessToken = memberOf(token, 'access_token');
    if (accessToken === undefined) return { answer, token };
    const described = asRegistered(JSON.stringify(await deps.introspect(accessToken)), started);
    const introspection = objectOf(described) ?? {};
    // A token for an API is no credential at userinfo.
    if (started.query.has('resource')) return { answer, token, introspection };
    return { answer, token, userinfo: await userinfo(), introspection };
  }

  async function run(ctx: Koa.Context, started: TestSignIn): Promise<TestSignInReport> {
    const answer = new URLSearchParams(ctx.querystring);
    const code = answer.get('code');
    try {
      return { started, ...(code === null ? { answer } : await redeem(ctx, started, code)) };
    } finally {
      await deps.endGrants(ctx, started.clientId);
    }
  }

  return {
    async begin(ctx, who, clientId, parameters) {
      const browser = browserOf(ctx);
      // The CSRF check of the form has already required the cookie.
      if (browser === undefined) throw new TypeError('a form was taken from a browser without a cookie');
      const start = { clientId, adminId: who.account.id, sessionUid: who.sessionUid };
      const query = await deps.started.begin({ ...start, browser, redirectUri, parameters });
      // Without the login_hint: it is personal data, and may be mistyped.
      const { login_hint: _, ...recorded } = parameters;
      await write('client.trial_started', start, { details: recorded });
      return query;
    },

    async finish(ctx) {
      const query = new URLSearchParams(ctx.querystring);
      const [state, browser] = [query.get('state'), browserOf(ctx)];
      // RFC 9207 §2.4: a response from another issuer is rejected.
      if (state === null || browser === undefined || query.get('iss') !== deps.issuer) return undefined;
      const started = await deps.started.take(state, browser);
      if (started === undefined || !(await isAdministrator(started.adminId))) return undefined;
      const report = await run(ctx, started);
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
