// Owns the list of pages and what each one is given. Texts that come from people are plain here: templates escape.
import type { AccountPageModels } from './account-pages.ts';
import type { FieldErrors, FormPage, Text } from './form-page.ts';

export interface ConsentScope {
  readonly name: string;
  /** `know`: tells the application who the person is; `act`: lets it do something. */
  readonly group: 'know' | 'act';
}

export type ApplicationType = 'web' | 'spa' | 'native' | 'machine';

export interface PageModels extends AccountPageModels {
  readonly onboard: FormPage & {
    readonly values: { readonly username: string; readonly email: string };
    readonly errors: FieldErrors;
    readonly minLength: number;
  };
  readonly login: FormPage & {
    readonly interaction: string;
    /** Comes back with the form, so that a page that has expired knows the way back. */
    readonly clientId?: string | undefined;
    readonly clientName?: string | undefined;
    readonly clientLogoUri?: string | undefined;
    readonly values: { readonly username: string };
    /** Whom the request is about (id_token_hint, re-authentication); `switchUrl` then leads to the open form. */
    readonly account?: { readonly username: string } | undefined;
    readonly switchUrl?: string | undefined;
    /** Whether the known account may go on without its password (prompt=select_account). */
    readonly canContinue?: boolean | undefined;
    readonly canCancel?: boolean | undefined;
    /** Default: password. */
    readonly mode?: 'password' | 'password_and_passkey' | 'passkey_only' | undefined;
    readonly canPasskey?: boolean | undefined;
    /** Where a recovery code leads to a new passkey. */
    readonly recoverUrl?: string | undefined;
    /** Whether a forgotten password can be replaced by mail. */
    readonly canReset?: boolean | undefined;
    /** Whether a link by mail signs in, too. */
    readonly canMagicLink?: boolean | undefined;
    /** Where an account is made; none: nobody may. */
    readonly signUpUrl?: string | undefined;
  };
  /** With `interaction`: while signing in; with `token`: by an invitation. */
  readonly signup: FormPage & {
    readonly interaction?: string | undefined;
    readonly token?: string | undefined;
    readonly clientId?: string | undefined;
    readonly clientName?: string | undefined;
    readonly clientLogoUri?: string | undefined;
    /** The address that was invited; it is not asked for then. */
    readonly invitedEmail?: string | undefined;
    readonly questions: {
      readonly fields: Readonly<Record<SignupFieldName, 'hidden' | 'optional' | 'required'>>;
      readonly isPasswordAsked: boolean;
      readonly minLength: number;
      readonly terms?: { readonly termsUrl: string; readonly privacyUrl: string } | undefined;
    };
    readonly values: { readonly [Name in SignupFieldName]?: string };
    readonly errors: FieldErrors;
    readonly signInUrl?: string | undefined;
  };
  /** The same whether or not the address is somebody's already. */
  readonly 'signup-verify': FormPage & {
    readonly interaction: string;
    readonly clientId?: string | undefined;
    readonly email: string;
    /** Until another code may be asked for; none or 0: now. */
    readonly resendInSeconds?: number | undefined;
    /** Whether the account may be made without the address. */
    readonly canSkip: boolean;
    readonly signupUrl: string;
  };
  readonly 'signup-done': WayOn;
  readonly enrolment: FormPage & {
    readonly token: string;
    readonly username: string;
    readonly email: string;
    readonly isPasswordAsked: boolean;
    readonly minLength: number;
    readonly errors: FieldErrors;
  };
  readonly mfa: FormPage & {
    readonly interaction: string;
    readonly clientId?: string | undefined;
    readonly clientName?: string | undefined;
    /** What this account can use, best first. */
    readonly methods: readonly SecondFactorMethod[];
    /** The one that the page asks for. */
    readonly method: SecondFactorMethod;
    /** Masked address that a code went to. None with method `email`: the page offers to send one first. */
    readonly sentTo?: string | undefined;
    readonly canTrust: boolean;
    readonly trustDays: number;
    /** Until another code may be asked for; none or 0: now. */
    readonly resendInSeconds?: number | undefined;
  };
  readonly 'mfa-enrol': FormPage & {
    readonly interaction: string;
    readonly clientId?: string | undefined;
    /** The QR code with its quiet zone, as a data: URI. */
    readonly qr: string;
    /** In groups, for typing; copied without the spaces. */
    readonly secret: string;
    /** What the QR code says; opens the app where page and app are on one phone. */
    readonly otpauthUri?: string | undefined;
    /** Whether codes by e-mail may be chosen instead. */
    readonly canUseEmail?: boolean | undefined;
    readonly canSkip: boolean;
  };
  /** Never to be sent twice with the same codes. */
  readonly 'recovery-codes': {
    readonly csrf: string;
    readonly interaction: string;
    readonly clientId?: string | undefined;
    readonly codes: readonly string[];
  };
  /** A passkey must be made to go on. */
  readonly 'passkey-enrol': PasskeyPage;
  readonly 'passkey-offer': PasskeyPage;
  /** Nothing here may depend on whether there is such an account. */
  readonly recover: FormPage & {
    readonly interaction: string;
    readonly clientId?: string | undefined;
    readonly values: { readonly username: string };
    readonly backUrl: string;
  };
  readonly 'account-passkeys': FormPage & {
    readonly account: { readonly username: string };
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
    /** The last sign-in is too long ago, or was too weak, for changes: where to sign in again. */
    readonly confirmUrl?: string | undefined;
    readonly notice?: 'added' | 'renamed' | 'removed' | undefined;
    /** For the browser's signal methods (WebAuthn §5.1.10). */
    readonly signals: object;
  };
  readonly 'forgot-password': FormPage & {
    readonly values: { readonly email: string };
    /** The sign-in to go back to. */
    readonly interaction?: string | undefined;
    /** `magic_link`: the mail that is asked for signs in instead of replacing the password. */
    readonly action?: 'magic_link' | undefined;
  };
  /** Nothing here may depend on whether there is such an account; `email` is what was typed. */
  readonly 'forgot-password-sent': {
    readonly email?: string | undefined;
    readonly interaction?: string | undefined;
    readonly action?: 'magic_link' | undefined;
  };
  readonly 'reset-password': FormPage & {
    readonly token: string;
    readonly minLength: number;
    readonly errors: FieldErrors;
    /** Whose password it is: for password managers, and judged as a part of a weak password. */
    readonly username?: string | undefined;
  };
  readonly 'reset-done': WayOn;
  readonly 'verify-email': { readonly csrf: string; readonly token: string; readonly email: string };
  readonly 'verify-email-done': WayOn;
  readonly 'magic-link':
    | { readonly csrf: string; readonly token: string }
    /** Another browser than the one that asked: nothing to press. */
    | (WayOn & { readonly isElsewhere: true; readonly token?: undefined });
  /** The same for links that are used, too old, replaced or made up. */
  readonly 'link-expired': {
    /** Where a new link can be asked for; none: the page offers the sign-in. */
    readonly newLinkUrl?: string | undefined;
    /** Only whoever sent the link can send another. */
    readonly isInvitation?: boolean | undefined;
  };
  readonly consent: FormPage & {
    readonly interaction: string;
    readonly clientId?: string | undefined;
    readonly client: {
      readonly name: string;
      /** Host of the redirect URI: the only part of a client's identity that we know to be true. */
      readonly host?: string | undefined;
      readonly logoUri?: string | undefined;
      readonly policyUri?: string | undefined;
      readonly tosUri?: string | undefined;
      readonly isFirstTime: boolean;
    };
    readonly account: { readonly username: string; readonly email?: string | undefined };
    readonly scopes: readonly ConsentScope[];
  };
  readonly error: {
    /** Also the status of the response, unless `send` is told another. */
    readonly status: number;
    readonly titleKey?: string | undefined;
    readonly message: Text;
    /** Our error code; a message that is the catalogue's own is then shown in the page's language. */
    readonly reason?: string | undefined;
    readonly details?: readonly { readonly label: Text; readonly value: string }[] | undefined;
    readonly requestId: string;
    readonly backUrl?: string | undefined;
    readonly backLabel?: Text | undefined;
  };
  readonly expired: { readonly clientName?: string | undefined; readonly restartUrl?: string | undefined };
  readonly 'cookies-off': { readonly retryUrl?: string | undefined };
  readonly 'signed-out': WayOn;
  readonly 'logout-confirm': {
    readonly csrf: string;
    readonly fields: readonly HiddenField[];
    readonly account?: { readonly username: string } | undefined;
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
    /** Where the device was when it started; '' where that is not known. */
    readonly address: string;
    /** Whether that is another network than the browser's. */
    readonly isElsewhere: boolean;
    /** Epoch milliseconds. */
    readonly startedAt: number;
    readonly now: number;
    readonly maxSeconds: number;
  };
  readonly 'device-done': { readonly client?: { readonly name: string } | undefined };
  /** Give `formAction: [action]` to `send`, or the browser refuses to post the form. */
  readonly continue: { readonly action: string; readonly fields: readonly HiddenField[] };
}

export type SignupFieldName =
  | 'username'
  | 'email'
  | 'given_name'
  | 'family_name'
  | 'nickname'
  | 'phone_number';

interface PasskeyPage {
  readonly csrf: string;
  readonly interaction: string;
  readonly clientId?: string | undefined;
  readonly account: { readonly username: string };
}

export type SecondFactorMethod = 'totp' | 'email' | 'recovery' | 'passkey';

interface WayOn {
  readonly clientName?: string | undefined;
  readonly continueUrl?: string | undefined;
}

export interface HiddenField {
  readonly name: string;
  readonly value: string;
}

export interface CreatedApplication {
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  readonly name: string;
  readonly type: ApplicationType;
  /** The first one registered; none for machine-to-machine. */
  readonly redirectUri?: string | undefined;
}

export type PageName = keyof PageModels;
