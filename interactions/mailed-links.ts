// The pages of links in e-mails: password reset, address verification, sign-in link. Opening a link changes nothing, because
// mail scanners follow links; only submitting the form on its page consumes it.
import type Koa from 'koa';
import { minPasswordLength } from '../src/accounts/index.ts';
import { AppError } from '../src/errors.ts';
import { type Form, passSpentLimit, readForm } from '../src/http/index.ts';
import { amrOf } from '../src/model/ways-to-sign-in.ts';
import type { BoundInteraction } from '../src/oidc/sign-in.ts';
import type { PageModels } from '../src/views/index.ts';
import type { AtHand } from './at-hand.ts';
import { ofKnownBrowser } from './holders.ts';
import { PROMPTS } from './login.ts';
import { pageOptions } from './page-options.ts';
import { requesterOf } from './requester.ts';
import type { WayBack } from './way-back.ts';

type Purpose = 'password_reset' | 'email_verification' | 'magic_link';

export interface MailedLinkPages {
  showForgotten(ctx: Koa.Context): Promise<void>;
  submitForgotten(ctx: Koa.Context): Promise<void>;
  showReset(ctx: Koa.Context): Promise<void>;
  submitReset(ctx: Koa.Context): Promise<void>;
  showVerification(ctx: Koa.Context): Promise<void>;
  submitVerification(ctx: Koa.Context): Promise<void>;
  showMagicLink(ctx: Koa.Context): Promise<void>;
  submitMagicLink(ctx: Koa.Context): Promise<void>;
}

const MAX_ADDRESS = 320;

const tokenOf = (ctx: Koa.Context): string => (typeof ctx.query.token === 'string' ? ctx.query.token : '');

export function createMailedLinkPages(hand: AtHand): MailedLinkPages {
  const { views, csrf, current, steps, recovery, settings, accounts, basePath, done } = hand;
  const { browsers } = hand;
  const { links } = recovery;

  // One page for used, expired, replaced and made-up links, so that it reveals nothing about the link.
  const next: Readonly<Record<Purpose, PageModels['link-expired']>> = {
    // Who opens a link again that worked wants to sign in.
    password_reset: { newLinkUrl: `${basePath}/oauth2/forgot-password`, isReset: true },
    // The account says whether the address is confirmed, and sends a new link if not.
    email_verification: { isAccount: true },
    // A sign-in link belongs to a sign-in, which must be started first.
    magic_link: {},
  };
  const sendExpired = (ctx: Koa.Context, purpose: Purpose): void =>
    views.send(ctx, 'link-expired', next[purpose], { status: 410 });

  /** The sign-in that a link continues, if it is still open and belongs to this browser. */
  async function interactionHere(ctx: Koa.Context, id: string | undefined) {
    try {
      return await current.ofBrowser(ctx, id);
    } catch (error) {
      if (error instanceof AppError && error.code === 'signin.expired') return undefined;
      throw error;
    }
  }

  /** After a reset: the sign-in that requested it if it is still open in this browser, else a new one. */
  async function signInAfter(ctx: Koa.Context, interactionId: string | undefined): Promise<WayBack> {
    const interaction = await interactionHere(ctx, interactionId);
    if (interaction === undefined || !PROMPTS.has(interaction.prompt.name)) return {};
    const client = await hand.findClient(String(interaction.params.client_id));
    const { clientName } = hand.waysBack.toSignIn(client);
    return { clientName, continueUrl: current.pageUrl('login', interaction) };
  }

  /** Only in the browser that changed the password; a reload redirects to the sign-in. */
  async function showChanged(ctx: Koa.Context): Promise<void> {
    const said = await done.take(ctx);
    if (said !== undefined) return views.send(ctx, 'reset-done', said);
    ctx.status = 303;
    ctx.redirect(`${basePath}/oauth2/login`);
  }

  /** Only in the browser that confirmed the address; a reload redirects to the account. */
  async function showVerified(ctx: Koa.Context): Promise<void> {
    if ((await done.take(ctx)) !== undefined) return views.send(ctx, 'verify-email-done', {});
    ctx.status = 303;
    ctx.redirect(`${basePath}/account`);
  }

  function refusePasswordsWhenOff(): void {
    if (recovery.arePasswordsOff()) throw new AppError('password.off');
  }

  async function readLinkForm(ctx: Koa.Context, purpose: Purpose): Promise<{ form: Form; token: string }> {
    const form = await readForm(ctx);
    csrf.verify(ctx, purpose, form.get('csrf'));
    return { form, token: form.get('token') ?? '' };
  }

  async function sendReset(
    ctx: Koa.Context,
    token: string,
    errors: Readonly<Record<string, string | { key: string }>>,
  ): Promise<void> {
    const link = await links.find(token, 'password_reset');
    if (link === undefined) return sendExpired(ctx, 'password_reset');
    if (link.isWaiting) return views.send(ctx, 'link-expired', { isWaiting: true }, { status: 409 });
    if (link.factor === 'passkey')
      return views.send(ctx, 'link-expired', { needsPasskey: true }, { status: 409 });
    // So that password managers save the new password with a username.
    const username = (await accounts.findUsable(link.accountId))?.username;
    const status = Object.keys(errors).length > 0 ? 400 : 200;
    const model = {
      csrf: csrf.token(ctx, 'password_reset'),
      token,
      username,
      minLength: minPasswordLength(settings()),
      errors,
      ...(link.factor === 'code' && { factor: link.factor }),
    };
    views.send(ctx, 'reset-password', model, { status });
  }

  return {
    async showForgotten(ctx) {
      const sent = await done.take(ctx);
      if (sent !== undefined) {
        const { email, interaction, action } = sent;
        const asked = action === 'magic_link' ? action : undefined;
        return views.send(ctx, 'forgot-password-sent', { email, interaction, action: asked });
      }
      const { interaction, action } = ctx.query;
      const wantsLink = action === 'magic_link' && recovery.canUseMagicLinks();
      if (!wantsLink) refusePasswordsWhenOff();
      const open = typeof interaction === 'string' ? await interactionHere(ctx, interaction) : undefined;
      const model = {
        csrf: csrf.token(ctx, 'forgotten'),
        values: { email: open?.typedLogin ?? '' },
        interaction: typeof interaction === 'string' ? interaction : undefined,
        action: wantsLink ? ('magic_link' as const) : undefined,
      };
      const again = new URLSearchParams({
        ...(model.interaction && { interaction: model.interaction }),
        ...(model.action && { action: model.action }),
      });
      views.send(ctx, 'forgot-password', model, { here: `${basePath}/oauth2/forgot-password?${again}` });
    },

    async submitForgotten(ctx) {
      const form = await readForm(ctx);
      csrf.verify(ctx, 'forgotten', form.get('csrf'));
      const email = (form.get('email') ?? '').slice(0, MAX_ADDRESS);
      const browser = browsers.fromBrowser(ctx).tokens;
      await passSpentLimit(ctx, async () => ofKnownBrowser(await recovery.knownIn(email, browser)));
      const wantsLink = form.get('action') === 'magic_link' && recovery.canUseMagicLinks();
      if (!wantsLink) refusePasswordsWhenOff();
      const asked = form.get('interaction');
      const interaction = wantsLink ? await current.ofBrowser(ctx, asked) : await interactionHere(ctx, asked);
      if (interaction !== undefined && email !== '' && email !== interaction.typedLogin) {
        // The sign-in that follows has it already.
        interaction.typedLogin = email;
        await interaction.persist();
      }
      const kind = wantsLink ? 'magic_link' : 'password_reset';
      const requester = { ...requesterOf(ctx), browser };
      await recovery.requestLink({ kind, email, interaction: interaction?.uid }, requester);
      const action = wantsLink ? 'magic_link' : undefined;
      const again = { interaction: asked, action };
      await done.goTo(ctx, '/oauth2/forgot-password', { email, ...again }, again);
    },

    async showReset(ctx) {
      if (done.isAsked(ctx)) return showChanged(ctx);
      refusePasswordsWhenOff();
      await sendReset(ctx, tokenOf(ctx), {});
    },

    async submitReset(ctx) {
      refusePasswordsWhenOff();
      const { form, token } = await readLinkForm(ctx, 'password_reset');
      const password = form.get('password') ?? '';
      if (password !== form.get('confirm_password')) {
        return sendReset(ctx, token, { confirm_password: { key: 'invalid.password_mismatch' } });
      }
      try {
        const link = await recovery.resetPassword(token, password, form.get('code'));
        // It is expired, or waits.
        if (link === undefined) return sendReset(ctx, token, {});
        // The reset voided every known browser; this one is where the owner continues, in spite of any lock.
        await browsers.remember(ctx, link.accountId);
        // No session (R097): who has the mailbox still needs what else the account asks for.
        await done.goTo(ctx, '/oauth2/reset-password', { ...(await signInAfter(ctx, link.boundTo)) });
      } catch (error) {
        if (!(error instanceof AppError) || error.fields === undefined) throw error;
        const { code, ...errors } = error.fields;
        return sendReset(
          ctx,
          token,
          code === undefined ? errors : { ...errors, code: { key: 'invalid.reset_code' } },
        );
      }
    },

    async showVerification(ctx) {
      if (done.isAsked(ctx)) return showVerified(ctx);
      const token = tokenOf(ctx);
      const link = await links.find(token, 'email_verification');
      if (link === undefined) return sendExpired(ctx, 'email_verification');
      views.send(ctx, 'verify-email', {
        csrf: csrf.token(ctx, 'email_verification'),
        token,
        email: link.email,
      });
    },

    async submitVerification(ctx) {
      const { token } = await readLinkForm(ctx, 'email_verification');
      if (!(await recovery.verifyEmail(token))) return sendExpired(ctx, 'email_verification');
      await done.goTo(ctx, '/oauth2/verify-email', {});
    },

    async showMagicLink(ctx) {
      const token = tokenOf(ctx);
      const link = await links.find(token, 'magic_link');
      if (link === undefined) return sendExpired(ctx, 'magic_link');
      const interaction = await interactionHere(ctx, link.boundTo);
      if (interaction === undefined) return views.send(ctx, 'magic-link', { isElsewhere: true });
      views.send(
        ctx,
        'magic-link',
        { csrf: csrf.token(ctx, 'magic_link'), token },
        // The form may redirect to the application.
        pageOptions(interaction),
      );
    },

    async submitMagicLink(ctx) {
      const { token } = await readLinkForm(ctx, 'magic_link');
      const known = await links.find(token, 'magic_link');
      if (known === undefined || !recovery.canUseMagicLinks()) return sendExpired(ctx, 'magic_link');
      // Only the browser that requested the link may use it, so an attacker cannot send theirs to a victim (login CSRF).
      const interaction: BoundInteraction = await current.ofBrowser(ctx, known.boundTo);
      const account = await recovery.useMagicLink(token);
      if (account === undefined) return sendExpired(ctx, 'magic_link');
      // Guesses in other browsers must not block the remaining steps in this one (decision 0012).
      await browsers.remember(ctx, account.id);
      await steps.proceed(ctx, interaction, account, { amr: amrOf('email_link'), methods: ['email_link'] });
    },
  };
}
