// What happens and is not recorded by itself: domains above subscribe to it where the domain in which it happens must not know
// them. Names are ours alone and may change.
import type { AccountRecord } from '../store/collections.ts';

type Snapshot = { readonly id: string; readonly version: number } & Readonly<AccountRecord>;

/** Reported at once: no caller waits for the subscribers, and they must not throw. */
export interface Signals {
  /**
   * The session is over, and no browser can use it any more. `sids`: client id -> the `sid` that this client knows. `returnsTo`: the
   * client that asked for the sign-out, and to which the browser is sent back.
   */
  sessionEnded: {
    readonly uid: string;
    readonly accountId: string;
    readonly sids: ReadonlyMap<string, string>;
    readonly returnsTo?: string | undefined;
  };
  /** Wrong passwords closed password sign-in. `isNoticeDue`: whether the owner is to be notified. Epoch milliseconds. */
  accountLocked: { readonly accountId: string; readonly lockedUntil: number; readonly isNoticeDue: boolean };
  /** An account gave up a further address, which another has as its primary one (src/store/yielded-keys.ts). */
  emailYielded: { readonly id: string; readonly key: string; readonly holderId: string };
  /** First tokens of a grant; written down a little later, so that no token is later for it. */
  tokensIssued: {
    readonly clientId: string;
    readonly accountId?: string | undefined;
    readonly grantId?: string | undefined;
    readonly grantType: string;
    readonly scope?: string | undefined;
  };
  /** An account is gone because its owner asked for it; nothing else of it is left. `language`: BCP 47. */
  ownerDeletedAccount: {
    readonly username: string;
    readonly email: string | undefined;
    readonly isEmailVerified: boolean;
    readonly language: string | undefined;
  };
  /** A complete sign-in in a browser that the account did not know, while it knows others. */
  newBrowserUsed: { readonly account: Snapshot };
  /** A code of a request with neither PKCE nor a nonce was redeemed. */
  unguardedCodeRedeemed: { readonly clientId: string };
  tokensRefreshed: { readonly clientId: string };
  /** An application that nobody vouched for got tokens, for the first time or not yet today. */
  quarantinedUsed: { readonly clientId: string };
  machineTokensIssued: { readonly clientId: string };
  tokensRefused: {
    /** None: the client is not known. */
    readonly clientId?: string | undefined;
    /** Such as token, userinfo, introspection, admin. */
    readonly endpoint: string;
    readonly grantType?: string | undefined;
    /** The OAuth error code. */
    readonly error: string;
    /** What the response did not say, from a fixed vocabulary. */
    readonly detail?: string | undefined;
  };
  /** An endpoint of the protocol refused a request of an application. */
  requestRefused: {
    /** `isKnown`: there is this application; else the id is what the request says, whether there is one or not. */
    readonly clientId?: string | undefined;
    readonly isKnown: boolean;
    /** Such as authorization, token, logout. */
    readonly endpoint: string;
    /** The OAuth error code. */
    readonly error: string;
    /** May repeat what the client sent. */
    readonly reason?: string | undefined;
    /** What was compared with the registered addresses, without user, password, query and fragment. */
    readonly address?: string | undefined;
  };
}

/** Whoever reports these waits for the subscribers, which work side by side, and fails with the first that fails. */
export interface AwaitedSignals {
  /**
   * The session is about to end; reported again when the ending was interrupted. Subscribers write down what must not get lost
   * and do not fail. `sids` is the object that `sessionEnded` has, too.
   */
  sessionEnding: Signals['sessionEnded'];
  /** An API that is not found any more is removed next: its tokens are revoked now. Reported again after a crash. */
  apiRemoving: { readonly apiId: string };
  /** An API has these scopes no longer: tokens for them are revoked now. Reported again after a crash. */
  apiScopesRemoving: { readonly apiId: string; readonly scopeIds: readonly string[] };
  /** An application that can do nothing any more is removed next: what belongs to it elsewhere goes now. */
  clientRemoving: { readonly clientId: string };
  /**
   * An account is marked as deleted and its own document goes next: what belongs to it elsewhere goes now. Reported again
   * after a crash. `mailboxes`: its verified addresses; another one may be somebody else's.
   */
  accountRemoving: { readonly accountId: string; readonly mailboxes: readonly string[] };
  /**
   * What rests on a change of address is void since it was stopped: what belongs to the account elsewhere and was made after
   * `since` (epoch milliseconds) goes now.
   */
  addressChangeStopped: { readonly accountId: string; readonly since: number };
  /** An administrator removed a passkey. */
  passkeyRemovedByAdmin: { readonly accountId: string };
  /** An administrator changed an account; what it was is `before`. */
  accountChangedByAdmin: {
    readonly before: Snapshot;
    readonly after: Snapshot;
    readonly isPasswordChanged: boolean;
    /** All second factors were erased, whether there were any or not. */
    readonly isSecondFactorReset: boolean;
  };
}
