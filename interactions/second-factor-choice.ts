// The second factors available in this sign-in, and whether e-mail codes may become one.
import type { Account } from '../src/accounts/index.ts';
import { ACR } from '../src/model/acr.ts';
import { isBy, type SecondFactor } from '../src/model/ways-to-sign-in.ts';
import type { BoundInteraction } from '../src/oidc/sign-in.ts';
import type { AtHand } from './at-hand.ts';
import { unspentMethods } from './second-factor-methods.ts';

export function createMethodChoice({ steps, secondFactors }: AtHand) {
  /** Administrators and auditors see the data of all users, so e-mail is no second factor for them (NIST 800-63B). */
  const isMailRefused = (account: Account, interaction: BoundInteraction): boolean =>
    // After a sign-in by e-mail link, an e-mail code would be the same factor again.
    account.role !== 'user' || isBy.mailedLink(interaction.progress?.amr ?? []);

  const isMultiFactorAsked = (account: Account, interaction: BoundInteraction): boolean =>
    steps.demandOf(interaction, account) === ACR.multiFactor;

  return {
    methodsOf(account: Account, interaction: BoundInteraction): SecondFactor[] {
      const { amr = [] } = interaction.progress ?? {};
      const unspent = unspentMethods(secondFactors.methodsOf(account), amr);
      const stronger = unspent.filter((method) => method !== 'email');
      // When two factors are requested, an e-mail code is not offered if the account has a stronger method.
      const isTooWeak =
        stronger.some((method) => method !== 'recovery') && isMultiFactorAsked(account, interaction);
      return isMailRefused(account, interaction) || isTooWeak ? stronger : unspent;
    },

    /** False when the application requests two factors, because an e-mail code does not count as one. */
    canUseEmail: (account: Account, interaction: BoundInteraction): boolean =>
      secondFactors.canUseEmail(account) &&
      !isMailRefused(account, interaction) &&
      !isMultiFactorAsked(account, interaction),
  };
}
