// The page of an invitation link: the sign-up form with the invited address. Opening the link changes nothing and creates no
// session; submitting the form creates the account and consumes the invitation.
import type Koa from 'koa';
import type { Account } from '../src/accounts/index.ts';
import { type Form, passSpentLimit } from '../src/http/index.ts';
import { newId } from '../src/ids.ts';
import { acrOf } from '../src/oidc/sign-in.ts';
import type { SignupQuestions, SignupValues } from '../src/registration/index.ts';
import type { FieldErrors } from '../src/views/index.ts';
import type { AtHand } from './at-hand.ts';
import { ofLink } from './holders.ts';
import { signupAuthentication } from './signup.ts';
import { errorsOf, readSignup } from './signup-form.ts';

export interface InvitationPages {
  show(ctx: Koa.Context, token: string): Promise<void>;
  /** After the account was created; a reload redirects. */
  showDone(ctx: Koa.Context): Promise<void>;
  submit(ctx: Koa.Context, form: Form): Promise<void>;
}

const PURPOSE = 'invitation';

export function createInvitationPages(hand: AtHand): InvitationPages {
  const { findClient, views, csrf, browser, sessions, waysBack, done, basePath, secondFactors } = hand;
  const { signUp, invitations, tickets } = hand.registration;
  const homeUrl = `${basePath}/account`;

  const sendExpired = (ctx: Koa.Context): void =>
    views.send(ctx, 'link-expired', { isInvitation: true }, { status: 410 });

  /** The e-mail address comes from the invitation, so the form does not ask for it. */
  function questionsNow(): SignupQuestions {
    const questions = signUp.questions();
    return { ...questions, fields: { ...questions.fields, email: 'hidden' } };
  }

  const clientOf = async (clientId: string | undefined) =>
    clientId === undefined ? undefined : findClient(clientId);

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
        invitedEmail: known.email,
        questions: questionsNow(),
        values: attempt.values,
        errors: attempt.errors,
      },
      // Its address has the token, which belongs into no other form.
      { status: attempt.status, here: '' },
    );
  }

  /** The application starts its own sign-in, in which the user is already signed in. */
  async function wayOn(clientId: string | undefined) {
    const client = await clientOf(clientId);
    if (client === undefined) return { continueUrl: homeUrl };
    return waysBack.toSignIn(client);
  }

  async function signIn(ctx: Koa.Context, account: Account): Promise<void> {
    const { amr, methods } = signupAuthentication(signUp.questions());
    if (amr.length === 0 || secondFactors.stepOf(account, hand.mfaMode()) !== 'none') return;
    // The session of another user of this browser must not be inherited (R060).
    const before = await browser.current(ctx);
    if (before !== undefined) await sessions.end(before.uid);
    await hand.onComplete(ctx, account);
    const sessionUid = newId();
    await hand.reportSignIn({ kind: 'complete', accountId: account.id, amr, methods, sessionId: sessionUid });
    const login = { accountId: account.id, amr: [...amr], acr: acrOf(amr), methods };
    await browser.signIn(ctx, { ...login, sessionUid });
  }

  return {
    async show(ctx, token) {
      const known = await invitations.find(token);
      if (known === undefined) return sendExpired(ctx);
      await send(ctx, token, known, { values: {}, errors: {}, status: 200 });
    },

    async showDone(ctx) {
      const said = await done.take(ctx);
      if (said !== undefined) return views.send(ctx, 'signup-done', said);
      ctx.status = 303;
      ctx.redirect(homeUrl);
    },

    async submit(ctx, form) {
      csrf.verify(ctx, PURPOSE, form.get('csrf'));
      const token = form.get('token') ?? '';
      const known = await invitations.find(token);
      await passSpentLimit(ctx, () => known && ofLink(token));
      if (known === undefined) return sendExpired(ctx);
      const { answers, errors } = readSignup(form, questionsNow(), { isEmailKnown: true });
      const { values } = answers;
      if (Object.keys(errors).length > 0) return send(ctx, token, known, { values, errors, status: 400 });
      try {
        const account = await invitations.accept(token, answers);
        if (account === undefined) return sendExpired(ctx);
        if (answers.password !== undefined) await signIn(ctx, account);
        else await tickets.give(csrf.browserId(ctx), account);
      } catch (error) {
        return send(ctx, token, known, { values, errors: errorsOf(error), status: 400 });
      }
      await done.goTo(ctx, '/oauth2/signup', { ...(await wayOn(known.clientId)) });
    },
  };
}
