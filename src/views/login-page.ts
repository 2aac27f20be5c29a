// The model of the sign-in page, and how people are shown.
import type { ConfirmedAct } from './confirmed-acts.ts';
import type { FormPage } from './form-page.ts';

/** Shown by name where there is one. */
export interface Person {
  readonly username: string;
  readonly name?: string | undefined;
  /** Of the picture that the person gave. */
  readonly avatarId?: string | undefined;
}

export interface LoginModel extends FormPage {
  readonly interaction: string;
  /** Returned with the form, so that an expired page can lead back to the application. */
  readonly clientId?: string | undefined;
  readonly clientName?: string | undefined;
  readonly values: { readonly username: string };
  /** The account of the request (id_token_hint, re-authentication); `switchUrl` leads to the form for another. */
  readonly account?: Person | undefined;
  readonly switchUrl?: string | undefined;
  /** Whether the known account may continue without its password (prompt=select_account). */
  readonly canContinue?: boolean | undefined;
  readonly canCancel?: boolean | undefined;
  /** Default: password. */
  readonly mode?: 'password' | 'password_and_passkey' | 'passkey_only' | undefined;
  readonly canPasskey?: boolean | undefined;
  /** Where a recovery code leads to registering a new passkey. */
  readonly recoverUrl?: string | undefined;
  /** Whether the password can be reset by mail. */
  readonly canReset?: boolean | undefined;
  /** Whether a sign-in link by mail is available. */
  readonly canMagicLink?: boolean | undefined;
  /** What comes first: how this browser signed in last, or what the known account is best protected by. */
  readonly first?: 'password' | 'passkey' | 'link' | undefined;
  /** The known account authenticates again, although it is signed in. */
  readonly isConfirming?: boolean | undefined;
  /** What for, and whom or what it is about. */
  readonly confirming?: { readonly act: ConfirmedAct; readonly name?: string | undefined } | undefined;
  /** The sign-up page; absent: sign-up is closed. */
  readonly signUpUrl?: string | undefined;
  /** People remembered in this browser, to choose from; instead of the form where there is no `account`. */
  readonly people?: readonly (Person & { readonly handle: string; readonly url: string })[] | undefined;
  /** The form for anyone else. */
  readonly otherUrl?: string | undefined;
  /** Whether the page asks to remember who signs in. */
  readonly canRemember?: boolean | undefined;
}
