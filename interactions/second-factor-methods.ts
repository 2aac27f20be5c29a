import type Koa from 'koa';
import { isBy, type SecondFactor } from '../src/model/ways-to-sign-in.ts';
import type { BoundInteraction } from '../src/oidc/sign-in.ts';
import type { AtHand } from './at-hand.ts';

export const ALERTS = {
  wrong: 'alert.code_wrong',
  expired: 'alert.code_expired',
  blocked: 'alert.rate_limited',
} as const;

/** Without the methods already used as first factor. */
export const unspentMethods = (methods: readonly SecondFactor[], amr: readonly string[]): SecondFactor[] =>
  methods.filter((method) => {
    if (method === 'recovery') return !isBy.recoveryCode(amr);
    // A user who signs in to create a passkey has none.
    return method !== 'passkey' || !(isBy.enrolment(amr) || isBy.passkey(amr));
  });

/** How the application of a sign-in is called. */
export async function clientNameOf(
  { findClient }: AtHand,
  { params }: BoundInteraction,
): Promise<string | undefined> {
  const client = await findClient(String(params.client_id));
  return client?.clientName ?? client?.clientId;
}

/** POST, redirect, GET: reloading the next page does not submit the form again. */
export function goToStep(
  ctx: Koa.Context,
  basePath: string,
  { uid }: { readonly uid: string },
  method?: SecondFactor,
): void {
  const query = new URLSearchParams({ interaction: uid, ...(method !== undefined && { method }) });
  ctx.status = 303;
  ctx.redirect(`${basePath}/oauth2/mfa?${query}`);
}
