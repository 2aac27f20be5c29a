// Asks an administrator to add a passkey or an authenticator app until there is one (decision 0002, `admin_mfa: offered`).
// "Not now" is valid for a day, for this user in this browser. Auditors have no forms here; the overview reminds them.
import type Koa from 'koa';
import { ACR } from '../../model/acr.ts';
import type { ProtocolDoors } from '../../oidc/index.ts';
import { type Page, post } from '../pages/page.ts';
import type { SignedInAdmin } from '../pages/signed-in-admin.ts';
import type { SealedCookie } from './sealed-cookie.ts';

/** Which factors can be added here. */
export interface FactorOffer {
  readonly passkey: boolean;
  readonly app: boolean;
}

const DAY_SECONDS = 86_400;

export const isPutOffBy = (value: unknown): value is string => typeof value === 'string';

export function createFactorOffer({ settings }: ProtocolDoors, putOff: SealedCookie<string>) {
  const addable = (): FactorOffer => ({
    passkey: settings().auth_mode !== 'password',
    app: settings().mfa_mode !== 'off',
  });
  return {
    /** @returns undefined when there is nothing to offer */
    of(ctx: Koa.Context, { access, account, strongestAcr }: SignedInAdmin): FactorOffer | undefined {
      if (access !== 'all' || strongestAcr === ACR.multiFactor || putOff.read(ctx) === account.id)
        return undefined;
      const offer = addable();
      return offer.passkey || offer.app ? offer : undefined;
    },
    putOff: (ctx: Koa.Context, { account }: SignedInAdmin): void =>
      putOff.write(ctx, account.id, DAY_SECONDS),
  };
}

export const factorOfferPages: readonly Page[] = [
  post('/second-factor/later', async (context) => {
    context.putOffFactor();
    context.go('');
  }),
];
