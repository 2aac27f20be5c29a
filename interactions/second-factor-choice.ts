// Owns which second factors a person may choose from at this sign-in, and whether codes by mail may become one.
import type { Account } from '../src/accounts/index.ts';
import type { BoundInteraction } from '../src/oidc/models/interaction.ts';
import { ACR } from '../src/oidc/scopes.ts';
import { type Method, unspentMethods } from './second-factor-methods.ts';
import type { SigninSteps } from './signin-steps.ts';

interface Deps {
  readonly steps: Pick<SigninSteps, 'demandOf'>;
  readonly methodsOf: (account: Account) => Method[];
  readonly canUseEmail: (account: Account) => boolean;
}

export function createMethodChoice({ steps, ...deps }: Deps) {
  /** Whoever sees everybody's data, as administrators and auditors do, needs a factor of another kind than a mailbox (checklist §2, NIST 800-63B). */
  const isMailRefused = (account: Account, interaction: BoundInteraction): boolean =>
    // After a sign-in by mailed link the mailbox has been used: a code to it would be the same factor again.
    account.role !== 'user' || interaction.progress?.amr.includes('email_link') === true;

  const isMultiFactorAsked = (account: Account, interaction: BoundInteraction): boolean =>
    steps.demandOf(interaction, account) === ACR.multiFactor;

  return {
    methodsOf(account: Account, interaction: BoundInteraction): Method[] {
      const { amr = [] } = interaction.progress ?? {};
      const unspent = unspentMethods(deps.methodsOf(account), amr);
      const stronger = unspent.filter((method) => method !== 'email');
      // Where two factors are asked for a mailed code would not be what was asked for, if there is something else.
      const isTooWeak =
        stronger.some((method) => method !== 'recovery') && isMultiFactorAsked(account, interaction);
      return isMailRefused(account, interaction) || isTooWeak ? stronger : unspent;
    },

    /** Not where the application asks for two factors: a mailed code would not be what it asked for. */
    canUseEmail: (account: Account, interaction: BoundInteraction): boolean =>
      deps.canUseEmail(account) &&
      !isMailRefused(account, interaction) &&
      !isMultiFactorAsked(account, interaction),
  };
}
