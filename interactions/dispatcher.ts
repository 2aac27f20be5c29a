// The dispatcher of interactions: the page that the protocol core asks for, in the same response.
import { ENROLMENT_LINK_AMR } from '../src/model/ways-to-sign-in.ts';
import type { ProtocolPages } from '../src/oidc/sign-in.ts';
import type { AtHand } from './at-hand.ts';
import { type ConsentPage, isConsentPage } from './consent.ts';
import type { EnrolmentPages } from './enrolment.ts';
import type { LoginPage } from './login.ts';
import { clientIdOf } from './page-options.ts';
import type { SignupPages } from './signup.ts';

interface Pages {
  readonly enrolment: EnrolmentPages;
  readonly consent: ConsentPage;
  readonly signup: SignupPages;
  readonly login: LoginPage;
}

const UNMET_REASONS = new Set(['essential_acr', 'essential_acrs', 'demanded_acr']);
const isUnmet = (reason: string): boolean => UNMET_REASONS.has(reason);

export function createShowInteraction(
  { current, steps, registration: { signUp } }: AtHand,
  { enrolment, consent, signup, login }: Pages,
): ProtocolPages['showInteraction'] {
  return async (ctx, interaction, isResumed) => {
    const isConsent = isConsentPage(interaction);
    // An essential `acr` that the sign-in did not reach, or that cannot be reached here, is an error (OIDC Core
    // §5.5.1.1): asking again would loop. The session is unchanged.
    const isTried = interaction.lastSubmission?.login !== undefined;
    if (interaction.prompt.reasons.some(isUnmet) && (isTried || !(await steps.canMeet(interaction)))) {
      const description = 'The requested authentication is not available.';
      const error = { error: 'unmet_authentication_requirements', error_description: description };
      return current.finishStep(ctx, interaction, error);
    }
    // Initiating User Registration via OIDC 1.0 §4; when sign-up is closed, the sign-in page is shown.
    const isSignup =
      interaction.prompt.name === 'create' && (await signUp.isOpenFor(clientIdOf(interaction)));
    const enrolling = isConsent ? undefined : await enrolment.holder(ctx);
    if (enrolling !== undefined)
      return steps.proceed(ctx, interaction, enrolling, { amr: ENROLMENT_LINK_AMR, methods: [] });
    const step = isConsent ? 'consent' : isSignup ? 'signup' : 'login';
    // The current address is consumed with the previous step, so the next page gets one that can be reloaded.
    if (isResumed) {
      ctx.redirect(current.pageUrl(step, interaction));
      ctx.status = 303;
    } else if (isConsent) await consent.show(ctx, interaction);
    else if (isSignup) await signup.show(ctx, interaction);
    else await login.show(ctx, interaction);
  };
}
