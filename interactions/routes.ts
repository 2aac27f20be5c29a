// Owns the addresses of this folder's pages and the one dispatcher: what is shown next follows from the interaction's
// stored state alone, so that no step can be skipped by going to its address.

import type Koa from 'koa';
import Router from 'koa-router';
import type { Interaction } from 'oidc-provider';
import type { Csrf } from '../src/http/csrf.ts';
import type { Form } from '../src/http/form.ts';
import type { Views } from '../src/http/views.ts';
import type { BrowserSession } from '../src/oidc/browser-session.ts';
import type { ProtocolPages } from '../src/oidc/create-provider.ts';
import type { IdentityProvider } from '../src/oidc/identity-provider.ts';
import type { LogoutPages } from '../src/oidc/logout.ts';
import { createConsentPage, type RememberedConsents } from './consent.ts';
import { createCurrentInteraction } from './current.ts';
import { createDevicePages } from './device.ts';
import { createRenderError, createSendErrorPage } from './error-pages.ts';
import { createLoginPage } from './login.ts';
import { createLogoutPages } from './logout-pages.ts';
import { createOnboardingPage } from './onboarding.ts';

interface Person {
  readonly id: string;
  readonly username: string;
  readonly email?: string;
  readonly role: string;
}

interface Deps {
  readonly provider: () => IdentityProvider;
  readonly views: Views;
  readonly csrf: Csrf;
  readonly basePath: string;
  readonly browser: BrowserSession;
  readonly readForm: (ctx: Koa.Context) => Promise<Form>;
  readonly accounts: {
    find(id: string): Promise<Person | undefined>;
    hasAdmin(): Promise<boolean>;
    createFirstAdmin(input: { username: string; password: string; email?: string }): Promise<Person>;
  };
  readonly authenticate: (username: string, password: string) => Promise<Person | undefined>;
  readonly consents: RememberedConsents;
  readonly endSession: (uid: string) => Promise<unknown>;
  readonly minPasswordLength: () => number;
}

export interface Interactions {
  readonly middleware: Koa.Middleware;
  readonly protocolPages: ProtocolPages;
  readonly logoutPages: LogoutPages;
  readonly sendErrorPage: ReturnType<typeof createSendErrorPage>;
}

export function createInteractions(deps: Deps): Interactions {
  const { views, csrf, basePath, accounts } = deps;
  const current = createCurrentInteraction(deps);
  const findAccount = (id: string): Promise<Person | undefined> => accounts.find(id);
  const login = createLoginPage({ ...deps, current, findAccount });
  const consent = createConsentPage({ ...deps, current, findAccount });
  const onboarding = createOnboardingPage({
    ...deps,
    minLength: deps.minPasswordLength,
    hasAdmin: () => accounts.hasAdmin(),
    createFirstAdmin: (input) => accounts.createFirstAdmin(input),
  });

  const router = new Router<Koa.DefaultState, Koa.DefaultContext>({ strict: true, sensitive: true });
  router.get('/oauth2/login', (ctx) => login.again(ctx));
  router.post('/oauth2/login', (ctx) => login.submit(ctx));
  router.post('/oauth2/consent', (ctx) => consent.submit(ctx));
  for (const path of ['/', '/onboard', '/oauth2/onboard']) {
    router.get(path, (ctx) => onboarding.show(ctx));
    router.post(path, (ctx) => onboarding.submit(ctx));
  }

  return {
    // The type asks for what koa-router itself puts into the context.
    middleware: router.routes() as Koa.Middleware,
    sendErrorPage: createSendErrorPage({ views }),
    logoutPages: createLogoutPages({ views, csrf }),
    protocolPages: {
      renderError: createRenderError({ views }),
      devicePages: createDevicePages({ views, basePath }),
      showFormPost: (ctx, action, fields) =>
        views.send(ctx, 'continue', { action, fields }, { formAction: [action] }),
      async showInteraction(ctx: Koa.Context, interaction: Interaction) {
        if (interaction.prompt.name === 'consent') await consent.show(ctx, interaction);
        else await login.show(ctx, interaction);
      },
    },
  };
}
