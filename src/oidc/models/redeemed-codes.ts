// Which of two requests with one code is a replay, and which a duplicate (RFC 6749 §4.1.2, decision 0017): a browser application
// sends its redemption twice at once (React's strict mode), a thief sends it later. What began before the first one was answered is
// a duplicate, if it proves by its verifier that it is of the same application's instance.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type AuthorizationCode, errors, type KoaContextWithOIDC } from 'oidc-provider';
import type { Clock } from '../../clock.ts';
import { beginningOf } from '../../http/index.ts';
import { ProviderBase } from '../provider-base.ts';

/** Of the codes that this process redeemed last, when they were answered, by `performance.now()`; undefined: not yet. */
const answers = new Map<string, { answeredAt?: number }>();
const MAX_ANSWERS = 1000;

/** @param response to the request that redeems it */
export function noteRedeemed(code: string, response: ServerResponse): void {
  const answer: { answeredAt?: number } = {};
  answers.set(code, answer);
  response.once('close', () => {
    answer.answeredAt = performance.now();
  });
  for (const oldest of answers.keys()) {
    if (answers.size <= MAX_ANSWERS) break;
    answers.delete(oldest);
  }
}

interface Used {
  readonly jti: string;
  readonly consumed?: unknown;
}

/**
 * Whether the request began before the one that used this code was answered. Of one that another process answers, only the time
 * is known at which the code was used, which is before that.
 */
export function beganBeforeAnswer(
  { jti, consumed }: Used,
  { req }: KoaContextWithOIDC,
  clock: Clock,
): boolean {
  const beganAt = beginningOf(req);
  if (beganAt === undefined) return false;
  const answer = answers.get(jti);
  if (answer !== undefined) return answer.answeredAt === undefined || beganAt < answer.answeredAt;
  return typeof consumed === 'number' && clock() - (performance.now() - beganAt) < consumed * 1000;
}

/** RFC 7636 §4.6. */
export const isVerifierOf = (
  { codeChallenge }: Pick<AuthorizationCode, 'codeChallenge'>,
  verifier: unknown,
): boolean =>
  codeChallenge !== undefined &&
  typeof verifier === 'string' &&
  isSame(createHash('sha256').update(verifier).digest(), Buffer.from(codeChallenge, 'base64url'));

const isSame = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b);

/** What a code gave ends, whoever has it: also what the first request is only now being given. */
export async function revokeReused(
  { grantId }: { readonly grantId?: string | undefined },
  revokeGrant: (grantId: string) => Promise<void>,
): Promise<void> {
  const { ctx } = ProviderBase;
  if (grantId === undefined || ctx === undefined) return;
  await revokeGrant(grantId);
  // The event that the library emits when it detects the reuse itself (lib/helpers/revoke.js).
  ctx.oidc.provider.emit('grant.revoked', ctx, grantId);
}

export const wasUsed = (kind: 'AuthorizationCode' | 'DeviceCode'): Error =>
  new errors.InvalidGrant(`${kind} was used before`);
