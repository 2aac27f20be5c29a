// An interaction (one sign-in in progress) also records which browser it belongs to and when its user authenticated, so that
// an authentication does not outlive a change of the account.
import type { AdapterPayload, Interaction, KoaContextWithOIDC } from 'oidc-provider';
import type { Clock } from '../../clock.ts';
import type { MethodTimes } from '../../sessions/index.ts';
import type { AccountDirectory } from '../entitlements/find-account.ts';
import { type ModelClass, ProviderBase } from '../provider-base.ts';
import { keepingNewer, type WithNewer, withNewer } from './newer-members.ts';

/** The progress of a sign-in, stored in the interaction between its pages. */
export interface SigninProgress {
  readonly accountId: string;
  /** RFC 8176 values of the methods that were used. */
  readonly amr: readonly string[];
  /** When each method was authenticated in this interaction; absent: stored by the version before. */
  readonly times?: MethodTimes;
  /**
   * verify: ask for a second factor; enrol: set up a second factor; password: ask for the password after a passkey without
   * user verification; passkey: a passkey must be created; new_codes: create recovery codes; codes: recovery codes are
   * shown; leaving: the owner asked for the account's deletion, and may undo it; offer: a passkey may be created.
   */
  readonly step: 'verify' | 'enrol' | 'password' | 'passkey' | 'new_codes' | 'codes' | 'leaving' | 'offer';
  /** The authenticator being enrolled, sealed for the account (src/second-factors/totp.ts). */
  readonly pending?: string;
  /** Epoch milliseconds of the last e-mailed code, for the countdown of the page. */
  readonly mailedAt?: number;
}

/** An interaction as our pages see it. */
export type BoundInteraction = Interaction & {
  /** Digest of the browser cookie: forms of this interaction are accepted only from that browser. */
  browser?: string;
  progress?: SigninProgress | undefined;
  /** Epoch milliseconds of the first authentication in `progress`, on which later steps depend. */
  provenAt?: number;
  /** Whether this browser reports that it can create passkeys; affects only what it is offered. */
  canPasskey?: boolean;
  /** What was typed as username or e-mail before the person chose another way: the next form has it already. */
  typedLogin?: string;
  /** The person chose "Remember me here"; counts when the sign-in is complete. */
  isRemembered?: boolean;
  /** Epoch milliseconds of the first form that failed: a user is working on this sign-in. */
  formAt?: number;
};

interface Deps {
  /** Digest of the browser's cookie; sets the cookie when there is none yet. */
  readonly browserDigest: (ctx: NonNullable<typeof ProviderBase.ctx>) => string;
  readonly clock: Clock;
  readonly accounts: AccountDirectory;
  readonly endSession: (uid: string) => Promise<unknown>;
  /**
   * Takes some of the limited places for open sign-ins (src/rate-limits/open-sign-ins.ts, shared-places.ts). @throws AppError
   * request.rate_limited
   */
  readonly takePlace: <T>(
    beginner: { readonly address: string; readonly isStranger: boolean },
    save: (places: {
      readonly place: string | undefined;
      readonly sharedPlaces: readonly string[];
    }) => Promise<T>,
  ) => Promise<T>;
}

// The routes at which the library trusts the result of a step.
const RESUMING = new Set(['resume', 'device_resume']);

/** Whether the account was locked, deactivated, deleted or given a new password since. */
async function isInvalidated(
  accounts: AccountDirectory,
  { accountId, provenAt }: { readonly accountId: string; readonly provenAt?: unknown },
  counts: 'maySignIn' | 'isUsable',
): Promise<boolean> {
  const account = await accounts.find(accountId);
  if (account === undefined || !accounts[counts](account) || typeof provenAt !== 'number') return true;
  return !accounts.isSignInCurrent(account, provenAt);
}

/**
 * Another tab of this browser signed somebody else in meanwhile. Whoever authenticated last is signed in; the other session ends, as
 * with prompt=login. The library, which compares the two when it has loaded the interaction, would render a page by itself that posts to
 * its own sign-out (lib/actions/authorization/resume.js).
 */
async function leaveOtherAccount(
  ctx: KoaContextWithOIDC,
  accountId: string | undefined,
  endSession: Deps['endSession'],
): Promise<void> {
  const { session, provider } = ctx.oidc;
  if (accountId === undefined || session?.accountId === undefined || session.accountId === accountId) return;
  await endSession(session.uid);
  // The cookie names nothing any more, so this is a session that begins.
  Object.assign(ctx.oidc, { session: await provider.Session.get(ctx) });
}

export function createInteractionModel(
  Base: ModelClass<Interaction>,
  { browserDigest, clock, accounts, endSession, takePlace }: Deps,
): ModelClass<Interaction> {
  return class Interaction extends Base {
    static override IN_PAYLOAD = [
      ...Base.IN_PAYLOAD,
      'browser',
      'progress',
      'provenAt',
      'canPasskey',
      'typedLogin',
      'isRemembered',
      'place',
      'sharedPlaces',
      'formAt',
    ];
    declare browser?: string;
    declare progress?: SigninProgress | undefined;
    declare provenAt?: number;
    declare canPasskey?: boolean;
    declare typedLogin?: string;
    declare isRemembered?: boolean;
    declare place?: string | undefined;
    declare sharedPlaces?: readonly string[] | undefined;
    declare formAt?: number;
    declare newer?: WithNewer['newer'];

    static override instantiate(payload: AdapterPayload) {
      return withNewer(super.instantiate(payload), payload, this.IN_PAYLOAD);
    }

    static override async find(value: string, options?: { ignoreExpiration?: boolean }) {
      const interaction: BoundInteraction | undefined = await super.find(value, options);
      const { ctx } = ProviderBase;
      if (
        interaction?.progress &&
        (await isInvalidated(
          accounts,
          { ...interaction.progress, provenAt: interaction.provenAt },
          // A step of it may be to undo the account's deletion.
          'maySignIn',
        ))
      ) {
        delete interaction.progress;
        delete interaction.provenAt;
      }
      if (interaction === undefined || ctx === undefined || !RESUMING.has(ctx.oidc.route)) return interaction;
      // The library's resume cookie has no __Host- prefix, so a sibling host can set the attacker's and sign users in to the
      // attacker's account (login CSRF). The browser cookie cannot be set by another host.
      if (interaction.browser !== browserDigest(ctx)) return undefined;
      // Without a result the library starts again.
      if (interaction.result?.login && (await isInvalidated(accounts, interaction.result.login, 'isUsable')))
        delete interaction.result;
      await leaveOtherAccount(ctx, interaction.result?.login?.accountId, endSession);
      return interaction;
    }

    override async save(ttl: number): Promise<string> {
      const { ctx } = ProviderBase;
      // A saved interaction keeps its place; those of the previous version have none.
      if (ctx === undefined || this.exp !== undefined) return super.save(ttl);
      const isStranger = this.session?.accountId === undefined;
      return takePlace({ address: ctx.ip, isStranger }, ({ place, sharedPlaces }) => {
        this.place = place;
        this.sharedPlaces = sharedPlaces.length > 0 ? sharedPlaces : undefined;
        return super.save(ttl);
      });
    }

    override async getValueAndPayload(): Promise<{ value: string; payload: AdapterPayload }> {
      const { ctx } = ProviderBase;
      if (this.browser === undefined && ctx !== undefined) this.browser = browserDigest(ctx);
      if (this.progress !== undefined) this.provenAt ??= clock();
      const login = this.result?.login;
      // The time of the first authentication; `ts` and `methodTimes` come with the result (signin-steps.ts).
      if (login !== undefined && login.provenAt === undefined) {
        Object.assign(login, { provenAt: this.provenAt ?? clock() });
      }
      const { value, payload } = keepingNewer(this, await super.getValueAndPayload());
      if (payload.session === undefined) return { value, payload };
      // The library stores the value of the session cookie here, with which a stolen database could sign in.
      const { cookie: _, ...session } = payload.session;
      return { value, payload: { ...payload, session } };
    }
  };
}
