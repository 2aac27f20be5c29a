// The order of all middleware; create-app.ts builds the parts.
import type { RequestListener } from 'node:http';
import Koa from 'koa';
import mountAt from 'koa-mount';
import { type Interactions, markFailedForms } from '../../interactions/index.ts';
import type { Admin } from '../admin/index.ts';
import type { Branding } from '../branding/index.ts';
import type { Config } from '../config/types.ts';
import type { Origins } from '../events/index.ts';
import { crossOrigin, type HasOrigin, pinOrigin } from '../http/index.ts';
import {
  countByOrigin,
  countRefusals,
  createListener,
  createRequestLog,
  errorBoundary,
  guardRequests,
  healthRoutes,
  limitByAddress,
  logLateErrors,
  metricsRoute,
  pictureRoutes,
  refreshSettings,
  requestOrigin,
  securityHeaders,
  wellKnown,
} from '../http/serving.ts';
import { newId } from '../ids.ts';
import type { KeysInUse } from '../keys/index.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics/index.ts';
import { aliases, type PlainAnswers, type ProtocolMount } from '../oidc/index.ts';
import type { createRateLimiting } from '../rate-limits/index.ts';
import type { Settings } from '../settings/index.ts';
import type { Store } from '../store/port.ts';
import type { Views } from '../views/index.ts';

export interface HttpParts {
  readonly config: Config & { readonly basePath: string };
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly store: Pick<Store, 'ping'>;
  readonly isDraining: (() => boolean) | undefined;
  readonly settings: Pick<Settings, 'refresh' | 'current'>;
  readonly branding: {
    readonly looks: Pick<Branding['looks'], 'refresh'>;
    readonly pictures: Pick<Branding['pictures'], 'read'>;
  };
  readonly origins: Origins;
  readonly rateLimiting: Pick<ReturnType<typeof createRateLimiting>, 'limits' | 'openSignIns'>;
  readonly views: Views;
  readonly passkeyOrigins: Parameters<typeof wellKnown>[0]['passkeyOrigins'];
  readonly hasOrigin: HasOrigin;
  readonly isRegisteredOrigin: Parameters<typeof countByOrigin>[0];
  readonly keys: Pick<KeysInUse, 'ready'>;
  readonly mount: ProtocolMount;
  readonly plain: PlainAnswers | undefined;
  readonly interactions: Interactions;
  readonly protocol: readonly Koa.Middleware[];
  readonly admin: Admin;
  readonly selfService: readonly Koa.Middleware[];
}

export function createHandler(parts: HttpParts): RequestListener {
  const { config, log, metrics, rateLimiting, views, mount, interactions, admin } = parts;
  const { baseUrl, basePath, trustProxy, cookieKeys, metricsToken: token } = config;

  const site = new Koa();
  const inSite: readonly Koa.Middleware[] = [
    aliases({ ...config, realmAliases: () => parts.settings.current().realm_aliases }),
    crossOrigin(parts.hasOrigin, () => parts.settings.current().agents),
    countRefusals(rateLimiting.limits),
    guardRequests,
    countByOrigin(parts.isRegisteredOrigin),
    limitByAddress(rateLimiting),
    markFailedForms(rateLimiting.openSignIns.markInUse),
    interactions.middleware,
    admin.testSignInGate,
    ...parts.protocol,
    admin.middleware,
    ...parts.selfService,
  ];
  for (const middleware of inSite) site.use(middleware);

  const app = new Koa();
  pinOrigin(app, { baseUrl, trustProxy, keys: cookieKeys });
  logLateErrors(app, log);
  const logged = createRequestLog({ log, newId, onAnswered: metrics.answered });
  const inApp: readonly Koa.Middleware[] = [
    logged.middleware,
    securityHeaders({ isSecure: baseUrl.startsWith('https:') }),
    errorBoundary({ log, sendErrorPage: interactions.sendErrorPage, basePath }),
    healthRoutes({ ping: parts.store.ping, isDraining: parts.isDraining }),
    metricsRoute({ token, baseUrl, trustProxy, text: metrics.text }),
    views.assetRoutes(),
    pictureRoutes({ read: parts.branding.pictures.read, basePath }),
    wellKnown({ passkeyOrigins: parts.passkeyOrigins, basePath }),
    requestOrigin(parts.origins),
    refreshSettings(parts.settings, parts.branding.looks),
    mountAt(basePath === '' ? '/' : basePath, site),
  ];
  for (const middleware of inApp) app.use(middleware);

  // The provider waits for the setting of the legacy profile.
  const ready = () => parts.keys.ready() ?? mount.ready()?.catch(() => undefined);
  const listener = createListener({
    respond: app.callback(),
    ready,
    mount,
    metrics,
    plain: parts.plain?.respond,
    begin: logged.begin,
  });
  return listener;
}
