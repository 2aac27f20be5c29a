import type { LogoutPages } from '../src/oidc/sign-in.ts';
import type { AtHand } from './at-hand.ts';

const PURPOSE = 'logout';

export function createLogoutPages({ views, csrf, waysBack }: AtHand): LogoutPages {
  return {
    // Frames are of the legacy profile; without them the browser goes straight back.
    signedOut(ctx, client, { frames = [], returnTo } = { frames: [], returnTo: undefined }) {
      const back = waysBack.toApplication(client);
      const model = returnTo === undefined ? back : { ...back, continueUrl: returnTo };
      views.send(ctx, 'signed-out', { ...model, frames, returnTo }, { frames });
    },
    elsewhere: (ctx) => views.send(ctx, 'signed-out', { isElsewhere: true }),
    confirm(ctx, fields) {
      const [returnTo] = fields.filter(({ name }) => name === 'post_logout_redirect_uri');
      const scheme = returnTo && URL.parse(returnTo.value)?.protocol;
      const options = { formAction: scheme ? [scheme] : [] };
      views.send(ctx, 'logout-confirm', { csrf: csrf.token(ctx, PURPOSE), fields }, options);
    },
    isConfirmed(ctx, form) {
      const token = form.get('csrf');
      if (token === undefined) return false;
      csrf.verify(ctx, PURPOSE, token);
      return true;
    },
  };
}
