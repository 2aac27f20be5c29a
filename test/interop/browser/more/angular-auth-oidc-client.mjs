// Angular without a component: what an application's injector gives.
import '@angular/compiler';
import { provideHttpClient } from '@angular/common/http';
import { provideZonelessChangeDetection } from '@angular/core';
import { createApplication } from '@angular/platform-browser';
import { provideRouter } from '@angular/router';
import { OidcSecurityService, provideAuth } from 'angular-auth-oidc-client';
import { firstValueFrom } from 'rxjs';

const { issuer, clientId } = globalThis.registered;
let state = 'loading';
let token = '';

const config = {
  authority: issuer,
  clientId,
  redirectUrl: `${location.origin}/callback`,
  postLogoutRedirectUri: `${location.origin}/`,
  scope: 'openid profile email offline_access',
  responseType: 'code',
  silentRenew: true,
  useRefreshToken: true,
};
const application = await createApplication({
  providers: [
    provideZonelessChangeDetection(),
    provideHttpClient(),
    provideRouter([{ path: '**', children: [] }]),
    provideAuth({ config }),
  ],
});
const oidc = application.injector.get(OidcSecurityService);

globalThis.client = {
  state: () => state,
  token: () => token,
  email: async () => (await firstValueFrom(oidc.getUserData())).email,
  signIn: () => oidc.authorize(),
  refresh: async () => {
    token = (await firstValueFrom(oidc.forceRefreshSession())).accessToken;
  },
  signOut: () => firstValueFrom(oidc.logoffAndRevokeTokens()),
};

oidc.checkAuth().subscribe({
  next: ({ isAuthenticated, accessToken, errorMessage }) => {
    token = accessToken;
    state = errorMessage || (isAuthenticated ? 'user' : 'nobody');
  },
  error: (error) => {
    state = String(error);
  },
});
