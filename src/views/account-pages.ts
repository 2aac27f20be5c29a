// Models of the self-service pages (/account…); part of pages.ts.
import type { FieldErrors, FormPage } from './form-page.ts';
import type { Person } from './login-page.ts';

interface OwnPage {
  /** Whose page it is, by name where there is one. */
  readonly account: Person;
}

interface ChangingPage extends FormPage, OwnPage {
  /** The last sign-in is too old or not strong enough for changes: the URL to sign in again. */
  readonly confirmUrl?: string | undefined;
}

/** "Chrome on Windows" in two parts, so that each language can combine them; absent when unknown. */
interface Device {
  readonly browser?: string | undefined;
  readonly system?: string | undefined;
}

interface ExportedPair {
  readonly name: string;
  readonly value: string;
  /** To be shown instead: a data URI. */
  readonly picture?: string | undefined;
}

export interface AccountPageModels {
  readonly account: ChangingPage & {
    readonly account: Person & {
      readonly email?: string | undefined;
      readonly isEmailVerified: boolean;
    };
    /** Epoch milliseconds, like all times here; relative times ("two hours ago") refer to it. */
    readonly now: number;
    readonly glance: {
      readonly level: 'strong' | 'fair' | 'weak';
      readonly advice: readonly (
        | 'settle_email'
        | 'app'
        | 'passkey'
        | 'second_passkey'
        | 'recovery_codes'
        | 'few_recovery_codes'
        | 'verify_email'
      )[];
    };
    /** The last lockout by wrong passwords from unknown browsers; absent: not recently. */
    readonly guesses?: { readonly at: number; readonly isThisBrowserKnown: boolean } | undefined;
    readonly codesLeft: number;
    /** Absent in passkey-only mode. */
    readonly password?: { readonly isSet: boolean; readonly changedAt?: number | undefined } | undefined;
    /** Absent when second factors are off and the account has none. */
    readonly secondFactor?:
      | {
          readonly appSince?: number | undefined;
          readonly appUsedAt?: number | undefined;
          readonly hasEmailCodes: boolean;
          /** Whether codes by mail can be a factor here; `later`: once the address is verified. */
          readonly canUseEmail: 'now' | 'later' | 'never';
          readonly hasFactor: boolean;
          readonly isOff: boolean;
        }
      | undefined;
    /** Whether a link by mail signs in, where the address is verified. */
    readonly hasMailedLink: boolean;
    /** Absent when passkeys are off and the account has none. */
    readonly passkeys?: { readonly count: number; readonly lastUsedAt?: number | undefined } | undefined;
    readonly sessions: readonly (Device & {
      readonly id: string;
      readonly ipAddress: string;
      readonly signedInAt: number;
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
      /** Nobody vouched for it. */
      readonly isAgent?: boolean;
      readonly scopes: readonly string[];
      /** What it may do at APIs, in their words. */
      readonly apis: readonly {
        readonly name: string;
        readonly resource: string;
        readonly scopes: readonly { readonly name: string; readonly description: string }[];
      }[];
      readonly since: number;
      readonly lastUsedAt: number;
      /** How many of its tokens are valid. */
      readonly tokens: number;
    }[];
    readonly activity: readonly (Device & {
      readonly at: number;
      /** Of the strings `activity.…`. */
      readonly kind: string;
      readonly isProblem: boolean;
      /** The name of the one that it was about. */
      readonly application?: string | undefined;
      readonly ipAddress?: string | undefined;
    })[];
    /** Whether there is older activity, which the page leads to. */
    readonly hasMoreActivity?: boolean | undefined;
    /** Whether people can delete their own account. */
    readonly canDelete: boolean;
    /** For the browser's signal methods (WebAuthn §5.1.10). */
    readonly signals: object;
    readonly notice?:
      | 'session_ended'
      | 'sessions_ended'
      | 'device_forgotten'
      | 'devices_forgotten'
      | 'application_removed'
      | 'verification_sent'
      | 'password_changed'
      | 'password_set'
      | 'profile_changed'
      | undefined;
  };
  readonly 'account-profile': ChangingPage & {
    /** What was typed, after an error. */
    readonly values: Readonly<Record<string, string>>;
    /** What owners change (src/model/users/rows.ts) besides the username, with what a selection offers. */
    readonly fields: readonly {
      readonly key: string;
      readonly options?: readonly { readonly value: string; readonly label: string }[] | undefined;
    }[];
    /** `later`: after a fresh sign-in. */
    readonly usernameChange: 'never' | 'later' | 'now';
    readonly errors: FieldErrors;
    readonly notice?: 'picture_changed' | 'picture_removed' | undefined;
  };
  readonly 'account-picture': ChangingPage & { readonly errors: FieldErrors };
  readonly 'account-email': ChangingPage & {
    readonly mailOff?: boolean;
    readonly email?: string | undefined;
    readonly isVerified: boolean;
    /** Verified, besides the primary one. */
    readonly others: readonly string[];
    /** Addresses that a link was sent to. */
    readonly pending: readonly string[];
    readonly canAdd: boolean;
    /** A change that was stopped: neither address counts until one is chosen. */
    readonly stopped?:
      | {
          readonly from?: string | undefined;
          readonly to: string;
          /** The new address cannot be kept yet. */
          readonly keepWaits: boolean;
        }
      | undefined;
    readonly values: { readonly email: string };
    readonly errors: FieldErrors;
    readonly notice?: 'sent' | 'kept' | 'added' | 'primary' | 'removed' | 'withdrawn' | undefined;
  };
  readonly 'account-email-confirm': {
    readonly csrf: string;
    readonly token: string;
    readonly owner: { readonly username: string; readonly name?: string | undefined };
    readonly from?: string | undefined;
    readonly to: string;
    /** One more, besides the primary one. */
    readonly isAddition: boolean;
  };
  readonly 'account-email-stop': {
    readonly csrf: string;
    readonly token: string;
    readonly from: string;
    /** The address that was added; absent: the primary one was changed. */
    readonly added?: string | undefined;
  };
  /** Nobody is signed in any more. */
  readonly 'account-email-done': { readonly what: 'changed' | 'undone' | 'stopped' | 'removed' };
  readonly 'account-applications': OwnPage & {
    readonly applications: readonly {
      readonly clientId?: string;
      readonly name: string;
      readonly url?: string | undefined;
      readonly host?: string | undefined;
    }[];
  };
  readonly 'account-data': ChangingPage;
  /** A document by itself, to be kept: it loads nothing. */
  readonly 'account-export': OwnPage & {
    readonly exportedAt: number;
    readonly sections: readonly {
      /** Of the strings `export.…`. */
      readonly name: string;
      readonly rows: readonly (readonly ExportedPair[])[];
    }[];
  };
  readonly 'account-delete': ChangingPage & {
    /** What is lost. */
    readonly applications: readonly { readonly clientId?: string; readonly name: string }[];
    readonly passkeys: number;
    readonly sessions: number;
    /** 0: at once. */
    readonly graceDays: number;
    readonly errors: FieldErrors;
  };
  /** Nobody is signed in any more. `dueAt`: epoch milliseconds; absent: it is gone. */
  readonly 'account-delete-done': { readonly dueAt?: number | undefined };
  readonly 'account-not-me': ChangingPage & {
    /** Whether the mail about it has an administrator to go to. */
    readonly tellsAdministrators: boolean;
    readonly mailOff?: boolean;
    readonly hasPassword: boolean;
    /** What was added in the last days and can be used to come back, newest first. */
    readonly additions: readonly {
      /** Of a form: names it among the others. */
      readonly id: string;
      readonly kind: 'passkey' | 'app' | 'email_codes' | 'email';
      /** What its owner calls it; of an address, the address. */
      readonly name?: string | undefined;
      /** Epoch milliseconds. */
      readonly addedAt: number;
      readonly canRemove: boolean;
      /** The sign-in before this rests on it: then it is in the hands of who is reading. */
      readonly isInUse: boolean;
      /** Whether it is to go unless its owner says that it stays. */
      readonly isSuspect: boolean;
    }[];
  };
  readonly 'account-password': ChangingPage & {
    readonly notice?: 'reported' | undefined;
    readonly hasPassword: boolean;
    /** Whether the password can be reset by mail. */
    readonly canReset: boolean;
    readonly minLength: number;
    readonly errors: FieldErrors;
  };
  readonly 'account-second-factor': ChangingPage & {
    readonly now: number;
    /** Second factors are turned off, whatever the account has. */
    readonly isOff: boolean;
    readonly isRequired: boolean;
    readonly appSince?: number | undefined;
    readonly hasFactor: boolean;
    readonly hasEmailCodes: boolean;
    readonly canUseEmail: 'now' | 'later' | 'never';
    readonly codesLeft: number;
    readonly canRemoveApp: boolean;
    readonly canRemoveEmail: boolean;
    readonly notice?: 'app_on' | 'app_replaced' | 'app_off' | 'email_on' | 'email_off' | undefined;
  };
  readonly 'account-app': FormPage &
    OwnPage & {
      /** The same secret, sealed; returned with the form. */
      readonly pending: string;
      readonly isReplacing: boolean;
      readonly qr: string;
      /** In groups, for typing. */
      readonly secret: string;
      readonly otpauthUri: string;
    };
  /** Shown once; a page never repeats the same codes. */
  readonly 'account-recovery-codes': OwnPage & { readonly codes: readonly string[] };
}
