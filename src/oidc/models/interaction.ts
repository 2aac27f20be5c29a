// Owns what an interaction (one sign-in in progress) keeps beyond the library's fields: which browser it belongs to, and
// when a person proved who they are, so that a proof does not outlive what was proven.
import type { AdapterPayload, Interaction } from 'oidc-provider';
import type { MethodTimes } from '../../accounts/freshness.ts';
import type { Clock } from '../../clock.ts';
import type { AccountDirectory } from '../find-account.ts';
import { type ModelClass, ProviderBase } from '../provider-base.ts';
import { trialRedirectUri } from '../trial-gate.ts';

/** What a sign-in has come to; kept in the interaction between its pages. */
export interface SigninProgress {
  readonly accountId: string;
  /** RFC 8176 values of what was really done. */
  readonly amr: readonly string[];
  /** When each method was authenticated in this interaction; absent: stored by the version before. */
  readonly times?: MethodTimes;
  /**
   * verify: a code is asked for; enrol: there is no factor yet; password: after a passkey that did not check its holder;
   * passkey: one must be made; new_codes: recovery codes are to be shown; codes: they are being shown; offer: a passkey
   * may be made.
   */
  readonly step: 'verify' | 'enrol' | 'password' | 'passkey' | 'new_codes' | 'codes' | 'offer';
  /** The authenticator being enrolled, sealed for the account (src/second-factors/totp.ts). */
  readonly pending?: string;
  /** Epoch milliseconds of the last code by mail, for the page's countdown. */
  readonly mailedAt?: number;
}

/** An interaction as our pages see it. */
export type BoundInteraction = Interaction & {
  /** Digest of the browser cookie: a form of this interaction is only taken from that browser. */
  browser?: string;
  progress?: SigninProgress | undefined;
  /** Epoch milliseconds of the first proof in `progress`: what comes later builds on it. */
  provenAt?: number;
  /** Whether this browser says that it can make passkeys; what it is offered follows from that, nothing else. */
  canPasskey?: boolean;
  /** Epoch milliseconds of the first form that led to nothing: somebody is at this sign-in. */
  formAt?: number;
  /** Whether an administrator tries the application (trial-gate.ts): what is agreed to is not kept. */
  readonly isTrial?: boolean;
};

interface Deps {
  /** Digest of the browser's cookie; sets the cookie when there is none yet. */
  readonly browserDigest: (ctx: NonNullable<typeof ProviderBase.ctx>) => string;
  readonly clock: Clock;
  readonly accounts: AccountDirectory;
  readonly baseUrl: string;
  /**
   * Finds a new interaction its place among the network's (src/rate-limits/open-places.ts). @throws AppError
   * request.rate_limited
   */
  readonly takePlace: <T>(address: string, save: (place: string | undefined) => Promise<T>) => Promise<T>;
}

// Where the library takes a step's result for a fact.
const RESUMING = new Set(['resume', 'device_resume']);

export function createInteractionModel(
  Base: ModelClass<Interaction>,
  { browserDigest, clock, accounts, baseUrl, takePlace }: Deps,
): ModelClass<Interaction> {
  /** Locked, switched off, removed, or given another password since (checklist R089, R063). */
  async function isOver({
    accountId,
    provenAt,
  }: {
    accountId: string;
    provenAt?: unknown;
  }): Promise<boolean> {
    const account = await accounts.find(accountId);
    if (account === undefined || !accounts.isUsable(account) || typeof provenAt !== 'number') return true;
    return !accounts.isProofCurrent(account, provenAt);
  }

  return class Interaction extends Base {
    static override IN_PAYLOAD = [
      ...Base.IN_PAYLOAD,
      'browser',
      'progress',
      'provenAt',
      'canPasskey',
      'place',
      'formAt',
    ];
    declare browser?: string;
    declare progress?: SigninProgress | undefined;
    declare provenAt?: number;
    declare canPasskey?: boolean;
    declare place?: string | undefined;
    declare formAt?: number;

    get isTrial(): boolean {
      return this.params.redirect_uri === trialRedirectUri(baseUrl);
    }

    static override async find(value: string, options?: { ignoreExpiration?: boolean }) {
      const interaction: BoundInteraction | undefined = await super.find(value, options);
      const { ctx } = ProviderBase;
      if (
        interaction?.progress &&
        (await isOver({ ...interaction.progress, provenAt: interaction.provenAt }))
      ) {
        delete interaction.progress;
        delete interaction.provenAt;
      }
      if (interaction === undefined || ctx === undefined || !RESUMING.has(ctx.oidc.route)) return interaction;
      // The library's resume cookie has no __Host- prefix, so a sibling host can plant the attacker's own here and sign
      // people in to an account of the attacker's. The browser's cookie cannot be planted.
      if (interaction.browser !== browserDigest(ctx)) return undefined;
      // Without a result the library asks again, from the beginning.
      if (interaction.result?.login && (await isOver(interaction.result.login))) delete interaction.result;
      return interaction;
    }

    override async save(ttl: number): Promise<string> {
      const { ctx } = ProviderBase;
      // Saved again it keeps its place; those of the version before have none.
      if (ctx === undefined || this.exp !== undefined) return super.save(ttl);
      return takePlace(ctx.ip, (place) => {
        this.place = place;
        return super.save(ttl);
      });
    }

    override async getValueAndPayload(): Promise<{ value: string; payload: AdapterPayload }> {
      const { ctx } = ProviderBase;
      if (this.browser === undefined && ctx !== undefined) this.browser = browserDigest(ctx);
      if (this.progress !== undefined) this.provenAt ??= clock();
      const login = this.result?.login;
      // When the first proof was: what comes later builds on it. `ts` and `methodTimes` come with the result (signin-steps.ts).
      if (login !== undefined && login.provenAt === undefined) {
        Object.assign(login, { provenAt: this.provenAt ?? clock() });
      }
      const { value, payload } = await super.getValueAndPayload();
      if (payload.session === undefined) return { value, payload };
      // The library notes the session cookie's value here; a copied database would be a signed-in browser.
      const { cookie: _, ...session } = payload.session;
      return { value, payload: { ...payload, session } };
    }
  };
}
