// What the pages of a sign-in have at hand.
import type { Client } from '../src/oidc/sign-in.ts';
import type { CurrentInteraction } from './current.ts';
import type { DonePages } from './done-pages.ts';
import type { InteractionDoors } from './doors.ts';
import type { SignInParts } from './sign-in-parts.ts';
import type { SigninSteps } from './signin-steps.ts';
import type { WaysBack } from './way-back.ts';

export interface AtHand extends InteractionDoors, SignInParts {
  readonly findClient: (id: string) => Promise<Client | undefined>;
  readonly current: CurrentInteraction;
  readonly steps: SigninSteps;
  readonly waysBack: WaysBack;
  readonly done: DonePages;
}
