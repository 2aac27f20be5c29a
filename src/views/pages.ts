// The models of all pages. Users' texts are unescaped here: templates escape them.
import type { SecondFactor } from '../model/ways-to-sign-in.ts';
import type { AccountPageModels } from './account-pages.ts';
import type { EnrolModel } from './enrol-page.ts';
import type { FieldErrors, FormPage, Text } from './form-page.ts';
import type { LoginModel, Person } from './login-page.ts';
import type { NextStep, SignedOut } from './next-step.ts';

export interface ConsentScope {
  readonly name: string;
  /** `know`: identity scopes; `act`: access to APIs. */
  readonly group: 'know' | 'act';
}

/** What is asked for at an API, in its own words. */
interface ApiConsent {
  readonly name: string;
  readonly identifier: string;
  /** The descriptions of the scopes. */
  readonly scopes: readonly string[];
  /** What its tokens say about the user; each has the words of the scope of that name. */
  readonly claims: readonly string[];
}

export interface PageModels extends AccountPageModels {
  readonly onboard: FormPage & {
    readonly values: { readonly username: string; readonly email: string };
    readonly errors: FieldErrors;
    readonly minLength: number;
  };
  readonly login: LoginModel;
  /** With `interaction`: during a sign-in; with `token`: by an invitation. */
  readonly signup: FormPage & {
    readonly interaction?: string | undefined;
    readonly token?: string | undefined;
    readonly clientId?: string | undefined;
    readonly clientName?: string | undefined;
    /** The invited address, which is then not asked for. */
    readonly invitedEmail?: string | undefined;
    readonly questions: {
      readonly fields: Readonly<Record<string, 'hidden' | 'optional' | 'required'>>;
      readonly isPasswordAsked: boolean;
      readonly minLength: number;
      readonly terms?: { readonly termsUrl: string; readonly privacyUrl: string } | undefined;
    };
    readonly mailOff?: boolean;
    readonly values: Readonly<Record<string, string>>;
    readonly errors: FieldErrors;
    readonly signInUrl?: string | undefined;
  };
  /** The same whether or not the address already has an account. */
  readonly 'signup-verify': FormPage & {
    readonly interaction: string;
    readonly clientId?: string | undefined;
    readonly email: string;
    /** Until another code can be requested; absent or 0: now. */
    readonly resendInSeconds?: number | undefined;
    /** Whether the account can be created without the address. */
    readonly canSkip: boolean;
    readonly signupUrl: string;
  };
  readonly 'signup-done': NextStep;
  readonly enrolment: FormPage & {
    readonly token: string;
    readonly username: string;
    readonly name?: string | undefined;
    readonly email: string;
    readonly isPasswordAsked: boolean;
    readonly minLength: number;
    readonly errors: FieldErrors;
  };
  readonly mfa: FormPage & {
    readonly interaction: string;
    readonly clientId?: string | undefined;
    readonly clientName?: string | undefined;
    /** As far as this browser knows who signs in; `switchUrl` leads to the form for another. */
    readonly account?: Person | undefined;
    readonly switchUrl?: string | undefined;
    /** The methods of this account, best first. */
    readonly methods: readonly SecondFactor[];
    /** The one that the page asks for. */
    readonly method: SecondFactor;
    readonly mailOff?: boolean;
    /** Masked address that a code was sent to. Absent with method `email`: the page offers to send one first. */
    readonly sentTo?: string | undefined;
    readonly canTrust: boolean;
    readonly trustDays: number;
    /** Until another code can be requested; absent or 0: now. */
    readonly resendInSeconds?: number | undefined;
    /** The mailed code is no longer valid, so only another one helps. */
    readonly isCodeSpent?: boolean | undefined;
  };
  readonly 'mfa-enrol': EnrolModel;
  /** Shown once; a page never repeats the same codes. */
  readonly 'recovery-codes': {
    readonly csrf: string;
    readonly interaction: string;
    readonly clientId?: string | undefined;
    readonly codes: readonly string[];
  };
  /** The owner asked for the account's deletion, and may undo it. `dueAt`: epoch milliseconds. */
  readonly leaving: PasskeyPage & { readonly dueAt: number };
  /** A passkey must be registered to continue. */
  readonly 'passkey-enrol': PasskeyStep;
  readonly 'passkey-offer': PasskeyStep;
  /** Must not depend on whether the account exists. */
  readonly recover: FormPage & {
    readonly interaction: string;
    readonly clientId?: string | undefined;
    readonly values: { readonly username: string };
    readonly backUrl: string;
  };
  readonly 'account-passkeys': FormPage & {
    readonly account: Person;
    readonly passkeys: readonly {
      readonly id: string;
      readonly label: string;
      readonly authenticator?: string | undefined;
      readonly isSynced: boolean;
      readonly isSecurityKey: boolean;
      readonly isSuspicious: boolean;
      /** Epoch milliseconds, like the one below. */
      readonly createdAt: number;
      readonly lastUsedAt?: number | undefined;
      readonly canRemove: boolean;
    }[];
    /** The last sign-in is too old or not strong enough for changes: the URL to sign in again. */
    readonly confirmUrl?: string | undefined;
    readonly notice?: 'added' | 'renamed' | 'removed' | 'reported' | undefined;
    /** For the browser's signal methods (WebAuthn §5.1.10). */
    readonly signals: object;
  };
  readonly 'forgot-password': FormPage & {
    readonly values: { readonly email: string };
    /** The sign-in to return to. */
    readonly interaction?: string | undefined;
    /** `magic_link`: the requested mail signs in instead of resetting the password. */
    readonly action?: 'magic_link' | undefined;
    readonly mailOff?: boolean;
  };
  /** Must not depend on whether the account exists; `email` is the submitted text. */
  readonly 'forgot-password-sent': {
    readonly email?: string | undefined;
    readonly interaction?: string | undefined;
    readonly action?: 'magic_link' | undefined;
    readonly mailOff?: boolean;
  };
  readonly 'reset-password': FormPage & {
    readonly token: string;
    readonly minLength: number;
    readonly errors: FieldErrors;
    /** For password managers, and to detect passwords that contain it. */
    readonly username?: string | undefined;
    /** By a former address: it asks for a code, too. */
    readonly factor?: 'code' | undefined;
  };
  readonly 'reset-done': NextStep;
  readonly 'verify-email': { readonly csrf: string; readonly token: string; readonly email: string };
  readonly 'verify-email-done': NextStep;
  readonly 'magic-link':
    | { readonly csrf: string; readonly token: string }
    /** Another browser than the one that requested the link: no button. */
    | (NextStep & { readonly isElsewhere: true; readonly token?: undefined });
  /** The same for used, expired, replaced and invalid links. */
  readonly 'link-expired': {
    /** By a former address: it counts later. */
    readonly isWaiting?: boolean | undefined;
    /** By a former address: a passkey has to be used first. */
    readonly needsPasskey?: boolean | undefined;
    /** Where a new link can be requested; absent: the page offers the sign-in. */
    readonly newLinkUrl?: string | undefined;
    /** To a new password: it may have worked, so the page offers the sign-in, too. */
    readonly isReset?: boolean | undefined;
    /** To confirm an address: the account says how things are. */
    readonly isAccount?: boolean | undefined;
    /** Only the inviter can send another link. */
    readonly isInvitation?: boolean | undefined;
    /** Only an administrator can send another link. */
    readonly isSetUp?: boolean | undefined;
  };
  readonly consent: FormPage & {
    readonly interaction: string;
    readonly clientId?: string | undefined;
    readonly client: {
      readonly name: string;
      /** Host of the redirect URI: the only verified part of a client's identity. */
      readonly host?: string | undefined;
      readonly policyUri?: string | undefined;
      readonly tosUri?: string | undefined;
      readonly isFirstTime: boolean;
      /** Nothing is asked for but to go on to `host`: one button. */
      readonly isConfirming?: boolean | undefined;
      /** Nobody vouched for it. */
      readonly stranger?:
        | {
            /** Of its metadata document: shown larger than the name. */
            readonly address?: string | undefined;
            readonly isLocal: boolean;
            readonly maxSeconds: number;
          }
        | undefined;
    };
    readonly account: Person & { readonly email?: string | undefined };
    readonly scopes: readonly ConsentScope[];
    readonly api?: ApiConsent | undefined;
  };
  readonly error: {
    /** Also the status of the response, unless `send` gets another. */
    readonly status: number;
    readonly titleKey?: string | undefined;
    readonly message: Text;
    /** Our error code; a catalogue message is then shown in the page's language. */
    readonly reason?: string | undefined;
    readonly details?:
      | readonly {
          readonly label: Text;
          readonly value: string;
          /** Of a page of ours, which the value names. */
          readonly href?: string | undefined;
        }[]
      | undefined;
    readonly requestId: string;
    readonly backUrl?: string | undefined;
    readonly backLabel?: Text | undefined;
  };
  readonly expired: { readonly clientName?: string | undefined; readonly restartUrl?: string | undefined };
  readonly 'cookies-off': { readonly retryUrl?: string | undefined };
  /** More than a next step for the legacy profile alone. */
  readonly 'signed-out': SignedOut;
  readonly 'logout-confirm': {
    readonly csrf: string;
    readonly fields: readonly HiddenField[];
    readonly account?: Person | undefined;
  };
  readonly device: {
    readonly action: string;
    readonly xsrf: string;
    readonly userCode?: string | undefined;
    readonly alert?: Text | undefined;
  };
  readonly 'device-confirm': {
    readonly action: string;
    readonly xsrf: string;
    readonly userCode: string;
    readonly client: { readonly name: string };
    readonly scopes: readonly string[];
    readonly api?: ApiConsent | undefined;
    /** Address of the device when it started the sign-in; '' when unknown. */
    readonly address: string;
    /** Whether that is another network than the browser's. */
    readonly isElsewhere: boolean;
    /** Epoch milliseconds. */
    readonly startedAt: number;
    readonly now: number;
    readonly maxSeconds: number;
  };
  readonly 'device-done': { readonly client?: { readonly name: string } | undefined };
  /** Pass `formAction: [action]` to `send`, otherwise the CSP blocks the form. */
  readonly continue: { readonly action: string; readonly fields: readonly HiddenField[] };
}

interface PasskeyPage {
  readonly csrf: string;
  readonly interaction: string;
  readonly clientId?: string | undefined;
  readonly account: Person;
}

interface PasskeyStep extends PasskeyPage {
  /** For the browser's signal methods (WebAuthn §5.1.10). */
  readonly signals: object;
}

export interface HiddenField {
  readonly name: string;
  readonly value: string;
}

export type PageName = keyof PageModels;
