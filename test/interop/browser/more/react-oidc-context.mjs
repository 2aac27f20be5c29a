import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import { AuthProvider, useAuth } from 'react-oidc-context';

const { issuer, clientId } = globalThis.registered;
let auth = { isLoading: true };

function Page() {
  auth = useAuth();
  return null;
}

globalThis.client = {
  state: () => {
    if (auth.isLoading) return 'loading';
    if (auth.error) return String(auth.error);
    return auth.isAuthenticated ? 'user' : 'nobody';
  },
  token: () => auth.user.access_token,
  email: () => auth.user.profile.email,
  signIn: () => auth.signinRedirect(),
  // It renews by itself, a minute before the end: at once.
  refresh: () => undefined,
  signOut: () => auth.signoutRedirect(),
};

const settings = {
  authority: issuer,
  client_id: clientId,
  redirect_uri: `${location.origin}/callback`,
  post_logout_redirect_uri: `${location.origin}/`,
  scope: 'openid profile email',
  onSigninCallback: () => history.replaceState({}, '', '/'),
};
createRoot(document.body).render(createElement(AuthProvider, settings, createElement(Page)));
