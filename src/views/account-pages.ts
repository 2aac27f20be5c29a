// Owns the list of people's own pages (/account…) and what each one is given; part of the list in pages.ts.
import type { FieldErrors, FormPage } from './form-page.ts';

interface OwnPage {
  readonly account: { readonly username: string };
}

interface ChangingPage extends FormPage, OwnPage {
  /** The last sign-in is too long ago, or was too weak, for changes: where to sign in again. */
  readonly confirmUrl?: string | undefined;
}

/** "Chrome on Windows" in two, so that each language can put them together; none: nothing of it is known. */
interface Device {
  readonly browser?: string | undefined;
  readonly system?: string | undefined;
}

export interface AccountPageModels {
  readonly account: ChangingPage & {
    readonly account: {
      readonly username: string;
      readonly name?: string | undefined;
      readonly email?: string | undefined;
      readonly isEmailVerified: boolean;
    };
    /** Epoch milliseconds, as all times here: what is told as "two hours ago" is told from this. */
    readonly now: number;
    readonly glance: {
      readonly level: 'strong' | 'fair' | 'weak';
      readonly protections: readonly ('password' | 'passkey' | 'app' | 'email_codes' | 'security_key')[];
      readonly advice: readonly (
        | 'app'
        | 'passkey'
        | 'second_passkey'
        | 'recovery_codes'
        | 'few_recovery_codes'
        | 'verify_email'
      )[];
    };
    /** When wrong passwords last closed password sign-in for unknown browsers; none: not lately. */
    readonly guesses?: { readonly at: number; readonly isThisBrowserKnown: boolean } | undefined;
    readonly codesLeft: number;
    /** None where only passkeys sign in. */
    readonly password?: { readonly isSet: boolean; readonly changedAt?: number | undefined } | undefined;
    /** None where it is not used and there is none. */
    readonly secondFactor?:
      | {
          readonly appSince?: number | undefined;
          readonly hasEmailCodes: boolean;
          readonly hasFactor: boolean;
          readonly isOff: boolean;
        }
      | undefined;
    /** None where they are not used and there are none. */
    readonly passkeys?: { readonly count: number; readonly lastUsedAt?: number | undefined } | undefined;
    readonly sessions: readonly (Device & {
      readonly id: string;
      readonly ipAddress: string;
      readonly lastActivityAt: number;
      readonly isThis: boolean;
    })[];
    readonly devices: readonly (Device & {
      readonly id: string;
      readonly ipAddress: string;
      readonly lastUsedAt: number;
      readonly expiresAt: number;
    })[];
    readonly applications: readonly {
      readonly clientId: string;
      readonly name: string;
      readonly logoUri?: string | undefined;
      readonly scopes: readonly string[];
      readonly since: number;
    }[];
    readonly activity: readonly (Device & {
      readonly at: number;
      /** Of the strings `activity.…`. */
      readonly kind: string;
      readonly isProblem: boolean;
      readonly ipAddress?: string | undefined;
    })[];
    readonly notice?:
      | 'session_ended'
      | 'sessions_ended'
      | 'device_forgotten'
      | 'devices_forgotten'
      | 'application_removed'
      | 'verification_sent'
      | 'password_changed'
      | 'password_set'
      | undefined;
  };
  readonly 'account-password': ChangingPage & {
    readonly hasPassword: boolean;
    /** Whether a forgotten one can be replaced by mail. */
    readonly canReset: boolean;
    readonly minLength: number;
    readonly errors: FieldErrors;
  };
  readonly 'account-second-factor': ChangingPage & {
    readonly now: number;
    /** None is asked for here, whatever the account has. */
    readonly isOff: boolean;
    readonly isRequired: boolean;
    readonly appSince?: number | undefined;
    readonly hasFactor: boolean;
    readonly hasEmailCodes: boolean;
    readonly codesLeft: number;
    readonly canRemoveApp: boolean;
    readonly canRemoveEmail: boolean;
    readonly notice?: 'app_on' | 'app_replaced' | 'app_off' | 'email_off' | undefined;
  };
  readonly 'account-app': FormPage &
    OwnPage & {
      /** The same secret, sealed; comes back with the form. */
      readonly pending: string;
      readonly isReplacing: boolean;
      readonly qr: string;
      /** In groups, for typing. */
      readonly secret: string;
      readonly otpauthUri: string;
    };
  /** Never to be sent twice with the same codes. */
  readonly 'account-recovery-codes': OwnPage & { readonly codes: readonly string[] };
}
