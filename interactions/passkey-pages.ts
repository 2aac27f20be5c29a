// The pages that create a passkey during a sign-in: required in passkey-only mode, or offered after a password. The ceremony
// itself is passkeys.ts.
import type Koa from 'koa';
import type { Account } from '../src/accounts/index.ts';
import type { BoundInteraction } from '../src/oidc/sign-in.ts';
import type { Passkeys } from '../src/passkeys/index.ts';
import type { Views } from '../src/views/index.ts';
import type { CurrentInteraction } from './current.ts';
import { pageOptions } from './page-options.ts';
import { personOf } from './person.ts';
import type { SigninSteps } from './signin-steps.ts';

interface Deps {
  readonly views: Views;
  readonly current: CurrentInteraction;
  readonly steps: SigninSteps;
  readonly passkeys: Pick<Passkeys, 'signals'>;
  /** Remembers in this browser that the user chose "Not now". */
  readonly declineOffer: (ctx: Koa.Context, account: Account) => void;
}

export interface PasskeySteps {
  show(
    ctx: Koa.Context,
    interaction: BoundInteraction,
    account: Account,
    step: 'passkey' | 'offer',
  ): Promise<void>;
  decline(ctx: Koa.Context, interaction: BoundInteraction, account: Account): Promise<void>;
}

export function createPasskeySteps(deps: Deps): PasskeySteps {
  const { views, current, steps, passkeys, declineOffer } = deps;
  return {
    async show(ctx, interaction, account, step) {
      views.send(
        ctx,
        step === 'offer' ? 'passkey-offer' : 'passkey-enrol',
        {
          ...current.formFields(ctx, interaction),
          account: personOf(account),
          // What is left of passkeys that are gone is forgotten before another one is made.
          signals: passkeys.signals(account),
        },
        pageOptions(interaction),
      );
    },
    async decline(ctx, interaction, account) {
      declineOffer(ctx, account);
      // The browser sends the cookie from the next request on.
      interaction.canPasskey = false;
      const { amr = [] } = interaction.progress ?? {};
      const { provenAt } = interaction;
      await steps.proceed(ctx, interaction, account, { amr, methods: [], provenAt });
    },
  };
}
