// Rates how well an account is protected and selects advice for its owner. Pure: the page chooses the texts.
import type { PageModels } from '../views/index.ts';

export interface GlanceFacts {
  /** Whether the account can sign in with a password. */
  readonly hasPassword: boolean;
  /** Passkeys that can sign in without a password. */
  readonly passkeyCount: number;
  /** Keys that can only be a second step. */
  readonly securityKeyCount: number;
  readonly hasApp: boolean;
  readonly hasEmailCodes: boolean;
  readonly codesLeft: number;
  readonly hasUnverifiedEmail: boolean;
  /** A change of it was stopped and waits for its owner, to whom nothing else matters as much. */
  readonly hasStoppedEmail?: boolean;
  readonly areCodesOff: boolean;
  readonly arePasskeysOff: boolean;
}

/** Advice: most useful first. */
export type Glance = PageModels['account']['glance'];
type Advice = Glance['advice'][number];

/** With this many or fewer left, the owner should create new ones. */
const FEW_CODES = 3;

export function glanceOf(facts: GlanceFacts): Glance {
  const { hasPassword, passkeyCount, securityKeyCount, hasApp, hasEmailCodes, codesLeft } = facts;
  const hasPasskey = passkeyCount > 0;
  const canAskForCodes = !facts.areCodesOff;
  const isAppAsked = hasApp && canAskForCodes;
  const isMailAsked = hasEmailCodes && canAskForCodes;
  const hasSecondStep = isAppAsked || securityKeyCount > 0;
  const isStrong = hasPassword ? hasSecondStep : hasPasskey;

  // With a password as well, a lost passkey locks no user out.
  const hasCodesToLose = hasSecondStep || isMailAsked || (hasPasskey && !hasPassword);
  const advice: readonly (readonly [Advice, boolean])[] = [
    ['settle_email', facts.hasStoppedEmail === true],
    ['app', hasPassword && !hasSecondStep && canAskForCodes],
    ['passkey', !hasPasskey && !facts.arePasskeysOff],
    ['second_passkey', !hasPassword && passkeyCount === 1],
    ['recovery_codes', hasCodesToLose && codesLeft === 0],
    ['few_recovery_codes', hasCodesToLose && codesLeft > 0 && codesLeft <= FEW_CODES],
    ['verify_email', facts.hasUnverifiedEmail && facts.hasStoppedEmail !== true],
  ];
  const named = <Name>(all: readonly (readonly [Name, boolean])[]): Name[] =>
    all.filter(([, isSo]) => isSo).map(([name]) => name);
  return {
    level: isStrong ? 'strong' : isMailAsked || hasPasskey ? 'fair' : 'weak',
    advice: named(advice),
  };
}
