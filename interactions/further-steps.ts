// Puts together what follows the first factor: the pages of the second step, the passkey ceremonies, leaving.
import type { BoundInteraction, Client } from '../src/oidc/sign-in.ts';
import { createLeavingStep } from './leaving.ts';
import { createPasskeySteps } from './passkey-pages.ts';
import { createPasskeyCeremonies } from './passkeys.ts';
import { createSecondFactorPages } from './second-factor.ts';

type Deps = Parameters<typeof createPasskeySteps>[0] &
  Parameters<typeof createLeavingStep>[0] &
  Parameters<typeof createPasskeyCeremonies>[0] &
  Omit<Parameters<typeof createSecondFactorPages>[0], 'passkeySteps' | 'leaving' | 'clientNameOf'> & {
    readonly findClient: (id: string) => Promise<Client | undefined>;
  };

export function createFurtherSteps(deps: Deps) {
  const passkeySteps = createPasskeySteps(deps);
  const leaving = createLeavingStep(deps);
  const clientNameOf = async ({ params }: BoundInteraction): Promise<string | undefined> => {
    const client = await deps.findClient(String(params.client_id));
    return client?.clientName ?? client?.clientId;
  };
  return {
    ceremonies: createPasskeyCeremonies(deps),
    factors: createSecondFactorPages({ ...deps, passkeySteps, leaving, clientNameOf }),
  };
}
