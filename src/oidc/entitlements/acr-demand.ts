// The `acr` that a sign-in must reach, and whether it can be reached at all (OIDC Core §5.5.1.1; decision 0009).
import type { Account } from '../../accounts/index.ts';
import { ACR } from '../../model/acr.ts';
import type { ProtocolDoors } from '../doors.ts';
import type { BoundInteraction } from '../models/interaction.ts';
import { isForAdminUi } from '../sign-in/purpose.ts';
import { acrRequestOf, voluntaryAcrAbove } from './acr.ts';
import { ADMIN_SCOPES, isGrantable } from './scopes.ts';

export interface AcrDemand {
  /** Whether the essential `acr` of the request, if any, can be reached here at all. */
  canMeet(interaction: BoundInteraction): Promise<boolean>;
  /** The `acr` requested beyond an ordinary sign-in; undefined: none, or none that the account can reach. */
  demandOf(interaction: Pick<BoundInteraction, 'params'>, account: Account): string | undefined;
  /** Whether the account can sign in with two factors. */
  isStrong(account: Account): boolean;
}

export function createAcrDemand({ directory, settings, accounts, secondFactors }: ProtocolDoors): AcrDemand {
  const { mayAdminister, reachableAcrs } = directory;
  const isForAdmin = ({ params }: Pick<BoundInteraction, 'params'>, account: Account): boolean =>
    (String(params.scope ?? '')
      .split(' ')
      .some((scope) => ADMIN_SCOPES.has(scope) && isGrantable(scope, account.role)) ||
      // Asked for at once: after the sign-in it would take the password a second time.
      (isForAdminUi({ params }) && isGrantable('admin:read', account.role))) &&
    !mayAdminister(account, undefined);

  function demandOf(interaction: Pick<BoundInteraction, 'params'>, account: Account): string | undefined {
    const request = acrRequestOf(interaction.params);
    const reachable = reachableAcrs(account);
    const { essential = [] } = request;
    const met = essential.find((value) => reachable.includes(value));
    // While second factors are turned off, an application cannot request one, and none is enrolled. A passkey is still a way to
    // sign in, and its holder may have typed the password.
    if (settings().mfa_mode === 'off') return met === ACR.multiFactor ? met : undefined;
    // Scopes of the admin API need two factors (decision 0002).
    if (isForAdmin(interaction, account)) return ACR.multiFactor;
    // Enrolment is required for an essential value, never for a voluntary one.
    if (met === undefined && essential.includes(ACR.multiFactor)) return ACR.multiFactor;
    return voluntaryAcrAbove(
      { voluntary: [...(met === undefined ? [] : [met]), ...request.voluntary] },
      reachable,
      ACR.singleFactor,
    );
  }

  return {
    demandOf,
    isStrong: (account) => reachableAcrs(account).includes(ACR.multiFactor),

    async canMeet(interaction) {
      const { essential } = acrRequestOf(interaction.params);
      if (essential === undefined) return true;
      const areCodesAsked = settings().mfa_mode !== 'off';
      const { session } = interaction;
      const account = session && (await accounts.findUsable(session.accountId));
      if (account === undefined) {
        const canMultiFactor = areCodesAsked || settings().auth_mode !== 'password';
        return essential.some(
          (acr) =>
            acr === ACR.singleFactor ||
            (acr === ACR.emailCode && areCodesAsked) ||
            (acr === ACR.multiFactor && canMultiFactor),
        );
      }
      const reachable = reachableAcrs(account);
      return essential.some(
        (acr) =>
          // Without such a factor, the sign-in enrols one.
          (acr === ACR.multiFactor && (areCodesAsked || reachable.includes(acr))) ||
          (acr === ACR.emailCode && reachable.includes(acr)) ||
          (acr === ACR.singleFactor && secondFactors.stepOf(account, settings().mfa_mode) === 'none'),
      );
    },
  };
}
