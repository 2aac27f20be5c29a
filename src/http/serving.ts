// What the composition and the process put around every request: the server (server.ts, where to start), the middleware in
// front of all routes, and the parts that are created once for the whole application. Domains use index.ts.
export { errorBoundary, logLateErrors } from './boundary.ts';
export { countByOrigin } from './counted-as.ts';
export { createCsrf } from './csrf.ts';
export { healthRoutes } from './health.ts';
export { createListener } from './listener.ts';
export { metricsRoute } from './metrics.ts';
export { createOneTime } from './one-time.ts';
export { tellOpenedElsewhere } from './opened-elsewhere.ts';
export { pictureRoutes } from './pictures.ts';
export { limitByAddress } from './rate-middleware.ts';
export { refreshSettings } from './refresh-settings.ts';
export { countRefusals } from './refusals.ts';
export { guardRequests } from './request-guard.ts';
export { createRequestLog } from './request-log.ts';
export { requestOrigin } from './request-origin.ts';
export { securityHeaders } from './security-headers.ts';
export { createHttpServer, type HttpServer, listen, requestsIn, stopServer } from './server.ts';
export { wellKnown } from './well-known.ts';
