// Who wants the second step that an account does not have yet: people set one up more willingly when they know.
import { type BoundInteraction, isForAdminUi } from '../src/oidc/sign-in.ts';
import type { RequiredBy } from '../src/views/index.ts';

interface Asked {
  readonly mfaMode: 'off' | 'optional' | 'required';
  /** Whether an administrator reset the factors of the account. */
  readonly isReset: boolean;
  /** Whether this request wants two factors. */
  readonly isDemanded: boolean;
}

/** @returns undefined when the person wants it: a preference of the account */
export function requiredBy(
  interaction: Pick<BoundInteraction, 'params'>,
  { mfaMode, isReset, isDemanded }: Asked,
): RequiredBy | undefined {
  if (mfaMode === 'required') return 'everyone';
  if (isDemanded) return isForAdminUi(interaction) ? 'admin' : 'client';
  return isReset ? 'reset' : undefined;
}
