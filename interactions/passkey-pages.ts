// The pages that create a passkey during a sign-in: required in passkey-only mode, or offered after a password. The ceremony
// itself is passkeys.ts.
import type Koa from 'koa';
import type { Account } from '../src/accounts/index.ts';
import type { BoundInteraction } from '../src/oidc/sign-in.ts';
import type { AtHand } from './at-hand.ts';
import { pageOptions } from './page-options.ts';
import { personOf } from './person.ts';

export interface PasskeySteps {
  show(
    ctx: Koa.Context,
    interaction: BoundInteraction,
    account: Account,
    step: 'passkey' | 'offer',
  ): Promise<void>;
  decline(ctx: Koa.Context, interaction: BoundInteraction, account: Account): Promise<void>;
}

export function createPasskeySteps(hand: AtHand): PasskeySteps {
  const { views, current, steps, passkeys, declineOffer } = hand;
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
