// The last step of a sign-in to an account whose owner asked for its deletion: keep the account, or leave. It comes after
// everything that the account asks for, so that no stranger and no thief of a password alone keeps it.
import type Koa from 'koa';
import type { Account } from '../src/accounts/index.ts';
import type { BoundInteraction, SigninProgress } from '../src/oidc/sign-in.ts';
import type { AtHand } from './at-hand.ts';
import { pageOptions } from './page-options.ts';
import { personOf } from './person.ts';

type Step = (
  ctx: Koa.Context,
  interaction: BoundInteraction,
  account: Account,
  progress: SigninProgress,
) => Promise<void>;

export interface LeavingStep {
  readonly show: Step;
  readonly keep: Step;
}

export function createLeavingStep({ views, current, steps, accounts, events }: AtHand): LeavingStep {
  const goOn: Step = (ctx, interaction, account, { amr }) =>
    steps.proceed(ctx, interaction, account, { amr, methods: [], provenAt: interaction.provenAt });

  return {
    async show(ctx, interaction, account, progress) {
      // Undone in another browser.
      if (account.deletion === undefined) return goOn(ctx, interaction, account, progress);
      const { dueAt } = account.deletion;
      const model = { ...current.formFields(ctx, interaction), account: personOf(account), dueAt };
      views.send(ctx, 'leaving', model, pageOptions(interaction));
    },

    async keep(ctx, interaction, account, progress) {
      const kept = await accounts.undoDeletion(account.id);
      if (account.deletion !== undefined) {
        await events.record({ event: 'user.deletion_undone', owner: account.id });
      }
      return goOn(ctx, interaction, kept, progress);
    },
  };
}
