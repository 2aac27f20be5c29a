// HTTP without business rules: what a domain that answers requests needs. Bodies and forms (body.ts, form.ts, lines.ts), CSRF
// (csrf.ts), routes (router.ts), CORS (cors.ts), values that a browser reads once (one-time.ts). What stands around all of them, from the socket to the error boundary, has its own door for
// the composition and the process: serving.ts.
export { createBackTo } from './back-to.ts';
export { readForm, readJson } from './body.ts';
export type { ErrorPage } from './boundary.ts';
export { answerJson, answerWithRedirect, type JsonBody, jsonBody } from './ceremony.ts';
export { clientAddress } from './client-address.ts';
export { clientCorsHeaders, crossOrigin, type HasOrigin, publicCorsHeaders } from './cors.ts';
export { addressOfOrigin, countedAs } from './counted-as.ts';
export type { Csrf } from './csrf.ts';
export { oauthErrorOf } from './error-shape.ts';
export { describeFailure } from './failure.ts';
export { createForm, type Form } from './form.ts';
export { type Line, type LineOptions, linesOfText, readLines } from './lines.ts';
export type { OneTime } from './one-time.ts';
export { pinOrigin } from './origin.ts';
export { MAX_TARGET } from './request-limits.ts';
export { beginningOf, requestIdOf } from './request-log.ts';
export { originOf } from './request-origin.ts';
export { isInForeignFrame } from './request-source.ts';
export { createRouter, type RouteContext, type RouteHandler, type RouteMethod } from './router.ts';
export { securityHeaderValues } from './security-headers.ts';
export { passSpentLimit } from './spent-limit.ts';
export { createTold, type Told } from './told.ts';
export { readFile, readUpload, type UploadedForm } from './upload.ts';
