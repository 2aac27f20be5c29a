// Owns the list of pages and what each one is given. Texts that come from people are plain here: templates escape.

/** A key of the string files, a key with its placeholders, or text that is shown as it is. */
export type Text =
  | string
  | { readonly key: string; readonly values?: Readonly<Record<string, string | number>> };

/** Wire name of a field -> what is wrong with it. */
export type FieldErrors = Readonly<Record<string, Text>>;

interface FormPage {
  readonly csrf: string;
  readonly alert?: Text | undefined;
  /** With an alert: how long to wait before trying again; shown as a countdown. */
  readonly retryAfterSeconds?: number | undefined;
}

export interface ConsentScope {
  readonly name: string;
  /** `know`: tells the application who the person is; `act`: lets it do something. */
  readonly group: 'know' | 'act';
}

export type ApplicationType = 'web' | 'spa' | 'native' | 'machine';

export interface PageModels {
  readonly onboard: FormPage & {
    readonly values: { readonly username: string; readonly email: string };
    readonly errors: FieldErrors;
    readonly minLength: number;
  };
  readonly login: FormPage & {
    readonly interaction: string;
    readonly clientName?: string | undefined;
    readonly clientLogoUri?: string | undefined;
    readonly values: { readonly username: string };
    /** Whom the request is about (id_token_hint, re-authentication); `switchUrl` then leads to the open form. */
    readonly account?: { readonly username: string } | undefined;
    readonly switchUrl?: string | undefined;
    readonly canCancel?: boolean | undefined;
  };
  readonly consent: FormPage & {
    readonly interaction: string;
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
  readonly 'signed-out': {
    readonly clientName?: string | undefined;
    readonly continueUrl?: string | undefined;
  };
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
  };
  readonly 'device-done': { readonly client?: { readonly name: string } | undefined };
  /** Give `formAction: [action]` to `send`, or the browser refuses to post the form. */
  readonly continue: { readonly action: string; readonly fields: readonly HiddenField[] };
  readonly 'admin-home': FormPage & {
    readonly account: { readonly username: string };
    readonly baseUrl: string;
    /** `{baseUrl}/oauth2` unless told. */
    readonly issuer?: string | undefined;
    readonly discoveryUrl: string;
    readonly applications: readonly {
      readonly clientId: string;
      readonly name: string;
      readonly type: ApplicationType;
      readonly redirectUris: readonly string[];
      /** Epoch milliseconds. */
      readonly createdAt: number;
    }[];
    /** By wire name: name, type, redirect_uris, post_logout_redirect_uris, first_party ('on'). */
    readonly values: Readonly<Record<string, string>>;
    readonly errors: FieldErrors;
    readonly created?: CreatedApplication | undefined;
  };
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
