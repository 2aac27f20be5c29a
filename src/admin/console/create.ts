// Assembles the Admin UI: cookies, sign-in, admission, pages.
import type Koa from 'koa';
import { toClient } from '../../clients/index.ts';
import type { Clock } from '../../clock.ts';
import { requestIdOf } from '../../http/index.ts';
import { errorRows } from '../../model/errors/errors.ts';
import type { RedeemCode } from '../../oidc/index.ts';
import type { AdminRoutesDeps } from '../routes.ts';
import type { TestSignIns } from '../test-sign-in/create.ts';
import { createTestSignInRun } from '../test-sign-in/run.ts';
import { type Admission, type Admissions, createAdmissions, isAdmission } from './admission.ts';
import { adminConsole, type ConsoleDeps } from './console.ts';
import { createFactorOffer, type FactorOffer, isPutOffBy } from './factor-offer.ts';
import { adminPages } from './page-list.ts';
import { createPreviews } from './previews.ts';
import { createSealedCookie } from './sealed-cookie.ts';
import { createConsoleSignIn, isPendingSignIn, type PendingSignIn } from './sign-in.ts';
import { createUndo, isOfferedUndo, type OfferedUndo } from './undo.ts';
import { createViewChoices, isOwnChoices, type OwnChoices } from './view-choices.ts';

export interface AdminUiDeps
  extends Pick<
    ConsoleDeps,
    | 'routes'
    | 'perform'
    | 'userImports'
    | 'views'
    | 'csrf'
    | 'oneTime'
    | 'readForm'
    | 'setActor'
    | 'strongAcr'
  > {
  /** The dependencies of the REST API; pages do everything through its routes. */
  readonly api: AdminRoutesDeps;
  readonly signedIn: Admissions['signedIn'];
  /** Which factors users may add to their own account. */
  readonly addableFactors: () => FactorOffer;
  /** Setting admin_idle_seconds. */
  readonly idleSeconds: () => number;
  readonly redeem: RedeemCode;
  readonly introspect: (accessToken: string) => Promise<object>;
  readonly testSignIns: TestSignIns;
  readonly cookieKeys: readonly string[];
  readonly clock: Clock;
  readonly baseUrl: string;
  readonly basePath: string;
  readonly issuer: string;
}

/** @returns middleware for /admin, except /admin/api */
export function createAdminUi(deps: AdminUiDeps): Koa.Middleware {
  const { api, baseUrl, basePath, issuer, clock, views } = deps;
  const cookie = {
    keys: deps.cookieKeys,
    isSecure: baseUrl.startsWith('https:'),
    path: basePath === '' ? '/' : basePath,
    clock,
  };
  return adminConsole({
    ...deps,
    pages: adminPages,
    async hasUsers() {
      if (await api.accounts.hasAdmin()) return true;
      // By ADMIN_TOKEN there can be users, auditors among them, before there is an administrator.
      const any = { sort: 'id', order: 'asc', limit: 1, isCounted: false } as const;
      return (await api.accounts.query(any)).items.length > 0;
    },
    record: (event) => api.events.record(event),
    testSignIn: createTestSignInRun({ ...deps, events: api.events }),
    async readClient(clientId) {
      const client = await api.clients.find(clientId);
      return client && toClient(client);
    },
    async readApi(identifier) {
      const found = await api.apis.findByIdentifier(identifier);
      return found && { id: found.id, name: found.value.name };
    },
    admissions: createAdmissions({
      ...deps,
      admission: createSealedCookie<Admission>({
        ...cookie,
        name: 'latchkey_admin',
        sameSite: 'strict',
        isValid: isAdmission,
      }),
    }),
    factorOffer: createFactorOffer({
      strongAcr: deps.strongAcr,
      addable: deps.addableFactors,
      putOff: createSealedCookie<string>({
        ...cookie,
        name: 'latchkey_admin_later',
        sameSite: 'strict',
        isValid: isPutOffBy,
      }),
    }),
    viewChoices: createViewChoices({
      cookie: createSealedCookie<OwnChoices>({
        ...cookie,
        name: 'latchkey_admin_view',
        sameSite: 'strict',
        isValid: isOwnChoices,
      }),
    }),
    previews: createPreviews({ ...deps, ...api }),
    undo: createUndo({
      cookie: createSealedCookie<OfferedUndo>({
        ...cookie,
        name: 'latchkey_admin_undo',
        sameSite: 'strict',
        isValid: isOfferedUndo,
      }),
    }),
    signIn: createConsoleSignIn({
      csrf: deps.csrf,
      redeem: deps.redeem,
      baseUrl,
      basePath,
      issuer,
      // Lax: the redirect back from the sign-in may have started on another site.
      pending: createSealedCookie<PendingSignIn>({
        ...cookie,
        name: 'latchkey_admin_signin',
        sameSite: 'lax',
        isValid: isPendingSignIn,
      }),
    }),
    /** Offers the only remedy: signing in as another user. */
    refuse(ctx) {
      const reason = 'auth.insufficient_scope';
      const { status, message } = errorRows[reason];
      const backUrl = `${baseUrl}/oauth2/logout`;
      const requestId = requestIdOf(ctx);
      views.send(ctx, 'error', {
        status,
        message,
        reason,
        requestId,
        backUrl,
        backLabel: { key: 'action.sign_out' },
      });
    },
  });
}
