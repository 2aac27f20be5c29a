// Owns the page behind an invitation's link: the same form as at signing up, with the address that was invited. Opening
// the link does nothing and is worth no session; sending the form makes the account and uses the invitation up.
import type Koa from 'koa';
import type { Account } from '../src/accounts/account.ts';
import type { Csrf } from '../src/http/csrf.ts';
import type { Form } from '../src/http/form.ts';
import { acrOf } from '../src/oidc/acr.ts';
import type { BrowserSession } from '../src/oidc/browser-session.ts';
import type { IdentityProvider } from '../src/oidc/identity-provider.ts';
import type { FieldErrors } from '../src/views/form-page.ts';
import type { Views } from '../src/views/views.ts';
import type { DonePages } from './done-pages.ts';
import type { EnrolmentTickets } from './enrolment.ts';
import type { ReportSignIn } from './sign-in-report.ts';
import { signupProof } from './signup.ts';
import {
  errorsOf,
  readSignup,
  type SignupAnswers,
  type SignupQuestions,
  type SignupValues,
} from './signup-form.ts';
import type { WaysBack } from './way-back.ts';

export interface InvitationParts {
  readonly questions: () => SignupQuestions;
  readonly find: (
    token: string,
  ) => Promise<{ readonly email: string; readonly clientId?: string | undefined } | undefined>;
  /**
   * @returns undefined when the invitation is no longer good
   * @throws AppError with `fields`: the invitation is then as good as before
   */
  readonly accept: (ctx: Koa.Context, token: string, answers: SignupAnswers) => Promise<Account | undefined>;
  /** Whether nothing is asked of this account after a password: then it may be signed in with it. */
  readonly isComplete: (account: Account) => boolean;
  /** Where people have no passwords. */
  readonly tickets: EnrolmentTickets;
  /** Where people go on to who came by no application. */
  readonly homeUrl: string;
}

interface Deps {
  readonly provider: () => IdentityProvider;
  readonly views: Views;
  readonly csrf: Csrf;
  readonly browser: Pick<BrowserSession, 'current' | 'signIn'>;
  readonly endSession: (uid: string) => Promise<unknown>;
  readonly waysBack: WaysBack;
  readonly done: DonePages;
  readonly reportSignIn: ReportSignIn;
  /** The account knows this browser from now on. */
  readonly rememberBrowser: (ctx: Koa.Context, accountId: string) => Promise<void>;
  readonly invitation: InvitationParts;
}

export interface InvitationPages {
  show(ctx: Koa.Context, token: string): Promise<void>;
  /** After the account was created; a reload leads on by itself. */
  showDone(ctx: Koa.Context): Promise<void>;
  submit(ctx: Koa.Context, form: Form): Promise<void>;
}

const PURPOSE = 'invitation';

export function createInvitationPages(deps: Deps): InvitationPages {
  const { provider, views, csrf, browser, endSession, waysBack, invitation, done } = deps;

  const sendExpired = (ctx: Koa.Context): void =>
    views.send(ctx, 'link-expired', { isInvitation: true }, { status: 410 });

  /** The address is the invitation's: it is shown, not asked. */
  function questionsNow(): SignupQuestions {
    const questions = invitation.questions();
    return { ...questions, fields: { ...questions.fields, email: 'hidden' } };
  }

  const clientOf = async (clientId: string | undefined) =>
    clientId === undefined ? undefined : provider().Client.find(clientId);

  async function send(
    ctx: Koa.Context,
    token: string,
    known: { readonly email: string; readonly clientId?: string | undefined },
    attempt: { values: SignupValues; errors: FieldErrors; status: number },
  ): Promise<void> {
    const client = await clientOf(known.clientId);
    views.send(
      ctx,
      'signup',
      {
        csrf: csrf.token(ctx, PURPOSE),
        token,
        clientName: client?.clientName ?? client?.clientId,
        clientLogoUri: client?.logoUri,
        invitedEmail: known.email,
        questions: questionsNow(),
        values: attempt.values,
        errors: attempt.errors,
      },
      { status: attempt.status },
    );
  }

  /** The application starts its own sign-in, which finds the person signed in. */
  async function wayOn(clientId: string | undefined) {
    const client = await clientOf(clientId);
    if (client === undefined) return { continueUrl: invitation.homeUrl };
    return waysBack.toSignIn(client);
  }

  async function signIn(ctx: Koa.Context, account: Account): Promise<void> {
    const { amr, methods } = signupProof(invitation.questions());
    if (amr.length === 0 || !invitation.isComplete(account)) return;
    // Another person at this browser: nothing of their session passes on (R060).
    const before = await browser.current(ctx);
    if (before !== undefined) await endSession(before.uid);
    await deps.reportSignIn({ kind: 'complete', accountId: account.id, amr, methods });
    await deps.rememberBrowser(ctx, account.id);
    await browser.signIn(ctx, { accountId: account.id, amr: [...amr], acr: acrOf(amr), methods });
  }

  return {
    async show(ctx, token) {
      const known = await invitation.find(token);
      if (known === undefined) return sendExpired(ctx);
      await send(ctx, token, known, { values: {}, errors: {}, status: 200 });
    },

    async showDone(ctx) {
      const said = await done.take(ctx);
      if (said !== undefined) return views.send(ctx, 'signup-done', said);
      ctx.status = 303;
      ctx.redirect(invitation.homeUrl);
    },

    async submit(ctx, form) {
      csrf.verify(ctx, PURPOSE, form.get('csrf'));
      const token = form.get('token') ?? '';
      const known = await invitation.find(token);
      if (known === undefined) return sendExpired(ctx);
      const { answers, errors } = readSignup(form, questionsNow(), { isEmailKnown: true });
      const { values } = answers;
      if (Object.keys(errors).length > 0) return send(ctx, token, known, { values, errors, status: 400 });
      try {
        const account = await invitation.accept(ctx, token, answers);
        if (account === undefined) return sendExpired(ctx);
        if (answers.password !== undefined) await signIn(ctx, account);
        else await invitation.tickets.give(csrf.browserId(ctx), account);
      } catch (error) {
        return send(ctx, token, known, { values, errors: errorsOf(error), status: 400 });
      }
      await done.goTo(ctx, '/oauth2/signup', { ...(await wayOn(known.clientId)) });
    },
  };
}
