// Owns which second factors a person may choose from at this sign-in, and whether codes by mail may become one.
import type { BoundInteraction } from '../src/oidc/models/interaction.ts';
import { ACR } from '../src/oidc/scopes.ts';
import { type Method, unspentMethods } from './second-factor-methods.ts';
import type { SigninSteps, StepsAccount } from './signin-steps.ts';

interface Deps<A extends StepsAccount> {
  readonly steps: Pick<SigninSteps<A>, 'demandOf'>;
  readonly methodsOf: (account: A) => Method[];
  readonly canUseEmail: (account: A) => boolean;
}

export function createMethodChoice<A extends StepsAccount>({ steps, ...deps }: Deps<A>) {
  /** Whoever sees everybody's data, as administrators and auditors do, needs a factor of another kind than a mailbox (checklist §2, NIST 800-63B). */
  const isMailRefused = (account: A, interaction: BoundInteraction): boolean =>
    // After a sign-in by mailed link the mailbox has been used: a code to it would be the same factor again.
    account.role !== 'user' || interaction.progress?.amr.includes('email_link') === true;

  const isMultiFactorAsked = (account: A, interaction: BoundInteraction): boolean =>
    steps.demandOf(interaction, account) === ACR.multiFactor;

  return {
    methodsOf(account: A, interaction: BoundInteraction): Method[] {
      const { amr = [] } = interaction.progress ?? {};
      const unspent = unspentMethods(deps.methodsOf(account), amr);
      const stronger = unspent.filter((method) => method !== 'email');
      // Where two factors are asked for a mailed code would not be what was asked for, if there is something else.
      const isTooWeak =
        stronger.some((method) => method !== 'recovery') && isMultiFactorAsked(account, interaction);
      return isMailRefused(account, interaction) || isTooWeak ? stronger : unspent;
    },

    /** Not where the application asks for two factors: a mailed code would not be what it asked for. */
    canUseEmail: (account: A, interaction: BoundInteraction): boolean =>
      deps.canUseEmail(account) &&
      !isMailRefused(account, interaction) &&
      !isMultiFactorAsked(account, interaction),
  };
}
