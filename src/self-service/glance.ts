// Security at a glance: what protects an account, how well, and what its owner had best do next. Pure: what is said
// about each is the page's matter.

export interface GlanceFacts {
  /** Whether a password signs in to it. */
  readonly hasPassword: boolean;
  /** Passkeys that sign in by themselves. */
  readonly passkeyCount: number;
  /** Keys that are good as a second step only. */
  readonly securityKeyCount: number;
  readonly hasApp: boolean;
  readonly hasEmailCodes: boolean;
  readonly codesLeft: number;
  readonly hasUnverifiedEmail: boolean;
  readonly areCodesOff: boolean;
  readonly arePasskeysOff: boolean;
}

export type Protection = 'password' | 'passkey' | 'app' | 'email_codes' | 'security_key';
export type Advice =
  | 'app'
  | 'passkey'
  | 'second_passkey'
  | 'recovery_codes'
  | 'few_recovery_codes'
  | 'verify_email';

export interface Glance {
  readonly level: 'strong' | 'fair' | 'weak';
  readonly protections: readonly Protection[];
  /** The most useful first. */
  readonly advice: readonly Advice[];
}

/** So few that it is time to make new ones. */
const FEW_CODES = 3;

export function glanceOf(facts: GlanceFacts): Glance {
  const { hasPassword, passkeyCount, securityKeyCount, hasApp, hasEmailCodes, codesLeft } = facts;
  const hasPasskey = passkeyCount > 0;
  const canAskForCodes = !facts.areCodesOff;
  const isAppAsked = hasApp && canAskForCodes;
  const isMailAsked = hasEmailCodes && canAskForCodes;
  const hasSecondStep = isAppAsked || securityKeyCount > 0;
  const isStrong = hasPassword ? hasSecondStep : hasPasskey;

  const protections: readonly (readonly [Protection, boolean])[] = [
    ['passkey', hasPasskey],
    ['password', hasPassword],
    ['app', isAppAsked],
    ['security_key', securityKeyCount > 0],
    ['email_codes', isMailAsked],
  ];
  // With a password beside it, a lost passkey locks nobody out.
  const hasCodesToLose = hasSecondStep || isMailAsked || (hasPasskey && !hasPassword);
  const advice: readonly (readonly [Advice, boolean])[] = [
    ['app', hasPassword && !hasSecondStep && canAskForCodes],
    ['passkey', !hasPasskey && !facts.arePasskeysOff],
    ['second_passkey', !hasPassword && passkeyCount === 1],
    ['recovery_codes', hasCodesToLose && codesLeft === 0],
    ['few_recovery_codes', hasCodesToLose && codesLeft > 0 && codesLeft <= FEW_CODES],
    ['verify_email', facts.hasUnverifiedEmail],
  ];
  const named = <Name>(all: readonly (readonly [Name, boolean])[]): Name[] =>
    all.filter(([, isSo]) => isSo).map(([name]) => name);
  return {
    level: isStrong ? 'strong' : isMailAsked || hasPasskey ? 'fair' : 'weak',
    protections: named(protections),
    advice: named(advice),
  };
}
