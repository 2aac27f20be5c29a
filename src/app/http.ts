// The order of all middleware; create-app.ts builds the parts.
import type { RequestListener } from 'node:http';
import Koa from 'koa';
import mountAt from 'koa-mount';
import { type Interactions, markFailedForms } from '../../interactions/index.ts';
import type { Admin } from '../admin/index.ts';
import type { Config } from '../config/types.ts';
import { crossOrigin, pinOrigin } from '../http/index.ts';
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
  tellOpenedElsewhere,
  wellKnown,
} from '../http/serving.ts';
import { newId } from '../ids.ts';
import type { KeysInUse } from '../keys/index.ts';
import type { Metrics } from '../metrics/index.ts';
import { aliases, type PlainAnswers, type ProtocolDoors } from '../oidc/index.ts';

interface Served {
  readonly config: Config;
  readonly metrics: Metrics;
  readonly isDraining: (() => boolean) | undefined;
  readonly keys: KeysInUse;
  readonly passkeyOrigins: () => readonly string[];
  readonly plain: PlainAnswers | undefined;
  readonly interactions: Interactions;
  readonly protocol: readonly Koa.Middleware[];
  readonly admin: Admin;
  readonly selfService: readonly Koa.Middleware[];
}

export function createHandler(doors: ProtocolDoors, served: Served): RequestListener {
  const { log, views, mount, settings, limits, openSignIns, baseUrl, basePath } = doors;
  const { config, metrics, interactions, admin, plain } = served;
  const { trustProxy, cookieKeys, metricsToken: token } = config;

  const site = new Koa();
  const inSite: readonly Koa.Middleware[] = [
    aliases({ ...doors, realmAliases: () => settings().realm_aliases }),
    crossOrigin(doors.hasOrigin, () => settings().agents),
    countRefusals(limits),
    guardRequests,
    countByOrigin(doors.isRegisteredOrigin),
    limitByAddress(doors),
    markFailedForms(openSignIns.markInUse),
    interactions.middleware,
    admin.testSignInGate,
    ...served.protocol,
    admin.middleware,
    ...served.selfService,
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
    healthRoutes({ ping: doors.store.ping, isDraining: served.isDraining }),
    metricsRoute({ token, baseUrl, trustProxy, text: metrics.text }),
    tellOpenedElsewhere(doors),
    views.assetRoutes(),
    pictureRoutes({ read: doors.pictures.read, basePath }),
    requestOrigin(doors.events.origins),
    refreshSettings(doors.settingsInStore, doors.looks),
    wellKnown({
      ...doors,
      passkeyOrigins: served.passkeyOrigins,
      webfingerDomains: () => settings().webfinger_domains,
    }),
    mountAt(basePath === '' ? '/' : basePath, site),
  ];
  for (const middleware of inApp) app.use(middleware);

  // The provider waits for the setting of the legacy profile.
  const ready = () => served.keys.ready() ?? mount.ready()?.catch(() => undefined);
  const listener = createListener({
    respond: app.callback(),
    ready,
    mount,
    metrics,
    plain: plain?.respond,
    begin: logged.begin,
  });
  return listener;
}
