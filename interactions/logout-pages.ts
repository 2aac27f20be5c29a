// Owns the pages of signing out: the question, and "signed out".
import type { Csrf } from '../src/http/csrf.ts';
import type { Views } from '../src/http/views.ts';
import type { LogoutPages } from '../src/oidc/logout.ts';

const PURPOSE = 'logout';

export function createLogoutPages({ views, csrf }: { views: Views; csrf: Csrf }): LogoutPages {
  return {
    signedOut(ctx, client) {
      const clientName = client?.clientName;
      views.send(ctx, 'signed-out', { clientName, continueUrl: clientName && client?.clientUri });
    },
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
