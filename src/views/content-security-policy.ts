// What a page may load, be framed by and send its forms to (CSP Level 3).
import { formActionSource, frameSource } from './safe-urls.ts';

interface Sources {
  /** URIs that forms may lead to besides this host. */
  readonly formAction?: readonly string[] | undefined;
  /** URIs of other sites that the page loads in frames (legacy profile). */
  readonly frames?: readonly string[] | undefined;
  /** Whether the page shows others of ours in frames. */
  readonly hasFrames?: boolean | undefined;
}

export const contentSecurityPolicy = (
  nonce: string,
  { formAction = [], frames = [], hasFrames = false }: Sources,
): string =>
  [
    "default-src 'none'",
    `style-src 'self' 'nonce-${nonce}'`,
    "script-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "font-src 'none'",
    "object-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    ...(hasFrames ? ["frame-src 'self'"] : []),
    ...(frames.length === 0 ? [] : [`frame-src ${[...new Set(frames.map(frameSource))].join(' ')}`]),
    ["form-action 'self'", ...new Set(formAction.map(formActionSource))].filter(Boolean).join(' '),
  ].join('; ');
