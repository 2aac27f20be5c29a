// Which paths are rate-limited per network, and which of their requests count. Sign-ins and administrators' bearers are limited
// where they are checked, since more than one path accepts them (src/accounts/guess-limits.ts, src/oidc/tokens/bearer-guard.ts).
//
// An OAuth endpoint answers 429 with Retry-After (RFC 6585 §4) and `temporarily_unavailable`: RFC 6749 §5.2 has no code for the
// token endpoint, and `slow_down` (RFC 8628 §3.5) means something to polling devices only. Polling itself is not counted.

import type Koa from 'koa';
import { AppError, type ErrorCode } from '../errors.ts';
import { memberOf } from '../json.ts';
import type { RateKind, RateLimits } from '../rate-limits/index.ts';
import { countedAs } from './counted-as.ts';
import { describeFailure } from './failure.ts';
import { isRefusal } from './refusals.ts';
import { isInForeignFrame } from './request-source.ts';
import { type LateCharge, refuseLater } from './spent-limit.ts';

/** How a request ended. */
interface Ending {
  readonly status: number;
  readonly body?: unknown;
  /** The code of an AppError. */
  readonly code?: ErrorCode;
}

export interface RateRule {
  readonly kind: RateKind;
  readonly methods: readonly string[];
  /** Below BASE_URL's own path; lower case. */
  readonly paths: RegExp;
  /** Whether a request that ends like this costs the point; others give it back. */
  readonly counts: (ending: Ending) => boolean;
  /** Of these paths, those whose pages say who goes on where the limit is spent (spent-limit.ts). */
  readonly holders?: RegExp;
}

// What is refused for what it is has a counter of its own (refusals.ts).
const always = (ending: Ending): boolean => !isRefusal(ending);
const whenRefused = (ending: Ending): boolean =>
  ending.status >= 400 && ending.status < 500 && !isRefusal(ending);
const whenGuessed = ({ code }: Ending): boolean => code === 'auth.invalid_token';
const whenAnswered = ({ status }: Ending): boolean => status >= 200 && status < 300;

/** RFC 8628 §3.5: a device that polls at the given interval is not limited. */
const pollingErrors: ReadonlySet<unknown> = new Set(['authorization_pending', 'slow_down']);

function whenTokenRefused(ending: Ending): boolean {
  return whenRefused(ending) && !pollingErrors.has(memberOf(ending.body, 'error'));
}

const rateRules: readonly RateRule[] = [
  // A guessed code. A mailed link has 256 random bits: guessing one needs no limit, and who holds one must not be kept from it by
  // others of the same network.
  {
    kind: 'mfa_ip',
    methods: ['POST'],
    paths: /^\/oauth2\/(?:mfa|recover|signup\/verify|passkey\/(?:login|register)\/finish)$/,
    counts: whenRefused,
    holders: /^\/oauth2\/(?:mfa|recover|passkey\/(?:login|register)\/finish)$/,
  },
  { kind: 'token_ip', methods: ['POST'], paths: /^\/oauth2\/token$/, counts: whenTokenRefused },
  // Client registration requires a token, so invalid ones count; sign-up requires none.
  {
    kind: 'register_ip',
    methods: ['POST'],
    paths: /^\/oauth2\/(?:signup|enrol)$/,
    counts: always,
    holders: /^\/oauth2\/(?:signup|enrol)$/,
  },
  {
    kind: 'register_ip',
    methods: ['GET', 'POST', 'PUT', 'DELETE'],
    paths: /^\/oauth2\/register(?:\/|$)/,
    counts: whenGuessed,
  },
  // What strangers ask for. A code at the second step (mfa/email) is asked for with an accepted password, and has a budget of the
  // account's own (src/second-factors/email-codes.ts).
  {
    kind: 'mail_ip',
    methods: ['POST'],
    paths: /^\/oauth2\/(?:forgot-password|signup\/email)$/,
    counts: always,
    holders: /^\/oauth2\/forgot-password$/,
  },
  // Each request without a cookie stores a session for the form's token.
  {
    kind: 'public_requests_ip',
    methods: ['GET', 'POST'],
    paths: /^\/oauth2\/device$/,
    counts: always,
  },
  // A sign-in page, a pushed request, a device code and a challenge each store a document. A redirect back does not.
  {
    kind: 'authorize_ip',
    methods: ['GET', 'POST'],
    paths: /^\/oauth2\/(?:authorize|par|device_authorization|passkey\/(?:login|register)\/begin)$/,
    counts: whenAnswered,
  },
];

/** Routers accept several spellings of a path; a limit must cover them all. */
function plainPath(path: string): string {
  const spelt = path.toLowerCase().replace(/\/{2,}/g, '/');
  return spelt.length > 1 && spelt.endsWith('/') ? spelt.slice(0, -1) : spelt;
}

function settle(charge: LateCharge, isCounted: boolean): void {
  if (isCounted) charge.keep();
  else charge.giveBack();
}

/** A sign-in in a frame stores nothing (request-guard.ts), and whoever shows the frame could have any number of them. */
const isSilent = (ctx: Koa.Context): boolean => ctx.path === '/oauth2/authorize' && isInForeignFrame(ctx);

/**
 * To be mounted where ctx.path is below BASE_URL's own path and aliases are resolved.
 * @returns middleware that answers 429 (AppError request.rate_limited) to a network without points left
 */
export function limitByAddress({
  limits,
  rules = rateRules,
}: {
  limits: Pick<RateLimits, 'consume'>;
  rules?: readonly RateRule[];
}): Koa.Middleware {
  const ruleOf = (ctx: Koa.Context): RateRule | undefined => {
    const method = ctx.method === 'HEAD' ? 'GET' : ctx.method;
    const path = plainPath(ctx.path);
    return rules.find(({ methods, paths }) => paths.test(path) && methods.includes(method));
  };

  async function chargeOf({ kind, holders }: RateRule, ctx: Koa.Context): Promise<LateCharge> {
    try {
      const charge = await limits.consume(kind, countedAs(ctx));
      return { ...charge, keep: () => undefined };
    } catch (error) {
      const isSpent = error instanceof AppError && error.code === 'request.rate_limited';
      // Whatever is held is held by a browser.
      if (!isSpent || holders?.test(plainPath(ctx.path)) !== true || ctx.get('Cookie') === '') throw error;
      return refuseLater(ctx, error, limits);
    }
  }

  return async (ctx, next) => {
    const rule = ruleOf(ctx);
    if (rule === undefined || isSilent(ctx)) return next();
    const charge = await chargeOf(rule, ctx);
    try {
      await next();
    } catch (error) {
      settle(charge, rule.counts(describeFailure(error)));
      throw error;
    }
    settle(charge, rule.counts({ status: ctx.status, body: ctx.body }));
    return undefined;
  };
}
