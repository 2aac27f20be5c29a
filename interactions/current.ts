// Owns finding the interaction (one sign-in in progress) that a form belongs to, in the browser it was shown to, and
// sending the browser on. Every page of this folder comes through here.

import type Koa from 'koa';
import { AppError } from '../src/errors.ts';
import type { Csrf } from '../src/http/csrf.ts';
import type { Form } from '../src/http/form.ts';
import { secretDigest } from '../src/ids.ts';
import type { IdentityProvider } from '../src/oidc/identity-provider.ts';
import type { InteractionResults } from '../src/oidc/library-types.ts';
import type { BoundInteraction } from '../src/oidc/models/interaction.ts';

export interface CurrentInteraction {
  /** By a form of ours. @throws AppError signin.expired, request.csrf, request.cookies_off */
  ofForm(ctx: Koa.Context, form: Pick<Form, 'get'>): Promise<BoundInteraction>;
  /** By its id alone; only in the browser it belongs to. @throws AppError signin.expired */
  ofBrowser(ctx: Koa.Context, id: string | undefined): Promise<BoundInteraction>;
  /** By the address of its page (`pageUrl`); only in the browser it belongs to. @throws AppError signin.expired */
  ofAddress(ctx: Koa.Context): Promise<BoundInteraction>;
  /** An address that shows the step's page, as often as it is loaded, until the step is over. */
  pageUrl(step: 'login' | 'signup' | 'consent' | 'recover', interaction: BoundInteraction): string;
  /** What goes into the form's `csrf` field. */
  csrfToken(ctx: Koa.Context, interaction: BoundInteraction): string;
  /** Writes the step's result down and sends the browser on (303) to where the library picks it up. */
  finishStep(ctx: Koa.Context, interaction: BoundInteraction, result: InteractionResults): Promise<void>;
}

interface Deps {
  readonly provider: () => IdentityProvider;
  readonly csrf: Csrf;
  readonly basePath: string;
}

/** What the application is told (RFC 6749 §4.1.2.1). */
export const CANCELLED: InteractionResults = {
  error: 'access_denied',
  error_description: 'The person went back instead of signing in.',
};

const purpose = (id: string): string => `interaction:${id}`;

export function createCurrentInteraction({ provider, csrf, basePath }: Deps): CurrentInteraction {
  async function ofBrowser(ctx: Koa.Context, id: string | undefined): Promise<BoundInteraction> {
    const interaction: BoundInteraction | undefined = id ? await provider().Interaction.find(id) : undefined;
    const browser = csrf.existingBrowserId(ctx);
    // Another browser's interaction is as good as none: its id may have been planted to sign somebody in elsewhere.
    if (interaction === undefined || browser === undefined || interaction.browser !== secretDigest(browser)) {
      throw new AppError('signin.expired');
    }
    // For the audit log: which application the events of this request are about.
    ctx.state.signInClientId = interaction.params.client_id;
    return interaction;
  }

  return {
    ofBrowser,
    ofAddress(ctx) {
      const { interaction: id, client_id: clientId } = ctx.query;
      // As in ofForm.
      ctx.state.formClientId = clientId;
      return ofBrowser(ctx, typeof id === 'string' ? id : undefined);
    },
    pageUrl(step, { uid, params }) {
      const query = new URLSearchParams({ interaction: uid, client_id: String(params.client_id) });
      return `${basePath}/oauth2/${step}?${query}`;
    },
    csrfToken: (ctx, interaction) => csrf.token(ctx, purpose(interaction.uid)),

    async ofForm(ctx, form) {
      const id = form.get('interaction');
      // For the page that says so if it has expired (error-pages.ts); proves nothing.
      ctx.state.formClientId = form.get('client_id');
      csrf.verify(ctx, purpose(id ?? ''), form.get('csrf'));
      const interaction = await ofBrowser(ctx, id);
      ctx.state.submittedTo = interaction;
      return interaction;
    },

    async finishStep(ctx, interaction, result) {
      // Earlier steps of the same sign-in stay in force; an error ends it (the library merges the same way).
      interaction.result = 'error' in result ? result : { ...interaction.lastSubmission, ...result };
      await interaction.persist();
      const route = interaction.deviceCode === undefined ? 'authorize' : 'device';
      ctx.status = 303;
      ctx.redirect(`${basePath}/oauth2/${route}/${interaction.uid}`);
    },
  };
}

/**
 * Has an interaction whose form led to nothing (a wrong password) count as one where somebody is. What led on is stored
 * with its progress anyway, so that an ordinary sign-in costs no further call.
 */
export function noteFailedForms(markInUse: (uid: string) => Promise<void>): Koa.Middleware {
  return async (ctx, next) => {
    const note = async (): Promise<void> => {
      const interaction: BoundInteraction | undefined = ctx.state.submittedTo;
      const { uid, formAt, progress, result, lastSubmission } = interaction ?? {};
      const isNoted = [formAt, progress, result, lastSubmission].some((part) => part !== undefined);
      if (uid !== undefined && !isNoted) await markInUse(uid);
    };
    try {
      await next();
    } catch (error) {
      await note();
      throw error;
    }
    await note();
  };
}
