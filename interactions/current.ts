// Finds the interaction (one sign-in in progress) of a form, in the browser that it was shown to, and redirects the browser
// after a step. Every page of this folder uses it.
import type Koa from 'koa';
import { AppError } from '../src/errors.ts';
import type { Form } from '../src/http/index.ts';
import { secretDigest } from '../src/ids.ts';
import type { BoundInteraction, InteractionResults } from '../src/oidc/sign-in.ts';
import type { InteractionDoors } from './doors.ts';
import { clientIdOf } from './page-options.ts';

export interface CurrentInteraction {
  /** By one of our forms. @throws AppError signin.expired, request.csrf, request.cookies_off */
  ofForm(ctx: Koa.Context, form: Pick<Form, 'get'>): Promise<BoundInteraction>;
  /** By its id alone; only in the browser it belongs to. @throws AppError signin.expired */
  ofBrowser(ctx: Koa.Context, id: string | undefined): Promise<BoundInteraction>;
  /** By the address of its page (`pageUrl`); only in the browser it belongs to. @throws AppError signin.expired */
  ofAddress(ctx: Koa.Context): Promise<BoundInteraction>;
  /** The address of the step's page, which can be reloaded until the step is finished. */
  pageUrl(
    step: 'login' | 'signup' | 'signup/verify' | 'consent' | 'recover',
    interaction: BoundInteraction,
  ): string;
  /** What every form of an interaction has in hidden fields. */
  formFields(
    ctx: Koa.Context,
    interaction: BoundInteraction,
  ): { readonly csrf: string; readonly interaction: string; readonly clientId: string };
  /** Stores the step's result and redirects the browser (303) to where the library resumes. */
  finishStep(ctx: Koa.Context, interaction: BoundInteraction, result: InteractionResults): Promise<void>;
}

/** The error for the application (RFC 6749 §4.1.2.1). */
export const CANCELLED: InteractionResults = {
  error: 'access_denied',
  error_description: 'The user cancelled the sign-in.',
};

const purpose = (id: string): string => `interaction:${id}`;

export function createCurrentInteraction({ mount, csrf, basePath }: InteractionDoors): CurrentInteraction {
  async function ofBrowser(ctx: Koa.Context, id: string | undefined): Promise<BoundInteraction> {
    const interaction: BoundInteraction | undefined = id
      ? await mount.provider.Interaction.find(id)
      : undefined;
    const browser = csrf.existingBrowserId(ctx);
    // An attacker can send a link with the id of their own interaction (login CSRF), so only its own browser may use it.
    if (interaction === undefined || browser === undefined || interaction.browser !== secretDigest(browser)) {
      throw new AppError('signin.expired');
    }
    // The application of the events of this request, for the audit log.
    ctx.state.signInClientId = clientIdOf(interaction);
    ctx.state.sessionUid = interaction.session?.uid;
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
      const query = new URLSearchParams({ interaction: uid, client_id: clientIdOf({ params }) });
      return `${basePath}/oauth2/${step}?${query}`;
    },
    formFields: (ctx, { uid, params }) => ({
      csrf: csrf.token(ctx, purpose(uid)),
      interaction: uid,
      clientId: clientIdOf({ params }),
    }),

    async ofForm(ctx, form) {
      const id = form.get('interaction');
      // For the error page of an expired interaction (error-pages.ts); not verified.
      ctx.state.formClientId = form.get('client_id');
      csrf.verify(ctx, purpose(id ?? ''), form.get('csrf'));
      const interaction = await ofBrowser(ctx, id);
      ctx.state.submittedTo = interaction;
      return interaction;
    },

    async finishStep(ctx, interaction, result) {
      // Results of earlier steps are kept; an error ends the sign-in (the library merges the same way).
      interaction.result = 'error' in result ? result : { ...interaction.lastSubmission, ...result };
      await interaction.persist();
      const route = interaction.deviceCode === undefined ? 'authorize' : 'device';
      ctx.status = 303;
      ctx.redirect(`${basePath}/oauth2/${route}/${interaction.uid}`);
    },
  };
}

/**
 * Marks an interaction as in use after a failed form (a wrong password). A successful form stores its progress anyway, so an
 * ordinary sign-in needs no additional store call.
 */
export function markFailedForms(markInUse: (uid: string) => Promise<void>): Koa.Middleware {
  return async (ctx, next) => {
    const mark = async (): Promise<void> => {
      const interaction: BoundInteraction | undefined = ctx.state.submittedTo;
      const { uid, formAt, progress, result, lastSubmission } = interaction ?? {};
      const isMarked = [formAt, progress, result, lastSubmission].some((part) => part !== undefined);
      if (uid !== undefined && !isMarked) await markInUse(uid);
    };
    try {
      await next();
    } catch (error) {
      await mark();
      throw error;
    }
    await mark();
  };
}
