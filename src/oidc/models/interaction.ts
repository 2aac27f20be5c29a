// Owns what an interaction (one sign-in in progress) keeps beyond the library's fields: which browser it belongs to.
import type { AdapterPayload, Interaction } from 'oidc-provider';
import { type ModelClass, ProviderBase } from '../provider-base.ts';

/** An interaction as our pages see it. */
export type BoundInteraction = Interaction & {
  /** Digest of the browser cookie: a form of this interaction is only taken from that browser. */
  browser?: string;
};

interface Deps {
  /** Digest of the browser's cookie; sets the cookie when there is none yet. */
  readonly browserDigest: (ctx: NonNullable<typeof ProviderBase.ctx>) => string;
}

export function createInteractionModel(
  Base: ModelClass<Interaction>,
  { browserDigest }: Deps,
): ModelClass<Interaction> {
  return class Interaction extends Base {
    static override IN_PAYLOAD = [...Base.IN_PAYLOAD, 'browser'];
    declare browser?: string;

    override async getValueAndPayload(): Promise<{ value: string; payload: AdapterPayload }> {
      const { ctx } = ProviderBase;
      if (this.browser === undefined && ctx !== undefined) this.browser = browserDigest(ctx);
      const { value, payload } = await super.getValueAndPayload();
      if (payload.session === undefined) return { value, payload };
      // The library notes the session cookie's value here; a copied database would be a signed-in browser.
      const { cookie: _, ...session } = payload.session;
      return { value, payload: { ...payload, session } };
    }
  };
}
