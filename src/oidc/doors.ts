// What the protocol core adds to the doors below it, for the pages and APIs above.
import type { HasOrigin } from '../http/index.ts';
import type { ConfirmSession } from './entitlements/account-directory.ts';
import type { LogoutDeliveries } from './logout/logout-deliveries.ts';
import type { MountedDoors } from './mounted-doors.ts';
import type { ReadCalledAddresses } from './outbound/called-addresses.ts';
import type { Outbound } from './outbound/outbound.ts';
import type { PreviewTokens } from './preview/index.ts';
import type { RedeemCode } from './redeem-code.ts';
import type { BrowserSession } from './sign-in/browser-session.ts';
import type { SignedInUsers } from './sign-in/signed-in-user.ts';
import type { Bearers } from './tokens/bearers.ts';
import type { DpopProofs } from './tokens/dpop.ts';
import type { RevokeToken } from './tokens/revocation.ts';
import type { SessionOfToken } from './tokens/token-session.ts';
import type { TokenState } from './tokens/token-state.ts';

/** What is asked about tokens, bearers and browsers. */
export interface ProtocolState {
  readonly tokens: TokenState;
  /** The same for who only reads what it finds. */
  readonly sharedTokens: TokenState;
  readonly sessionOf: SessionOfToken;
  readonly browser: BrowserSession;
  readonly signedIn: SignedInUsers;
  readonly hasOrigin: HasOrigin;
  readonly dpop: DpopProofs;
}

export interface ProtocolDoors extends MountedDoors, ProtocolState, Bearers {
  readonly confirmSession: ConfirmSession;
  readonly revokeToken: RevokeToken;
  readonly logoutDeliveries: LogoutDeliveries;
  readonly readCalledAddresses: ReadCalledAddresses;
  readonly previewTokens: PreviewTokens;
  readonly redeemCode: RedeemCode;
  readonly outbound: Outbound;
}
