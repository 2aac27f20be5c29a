// Which addresses from outside (client metadata, settings) may become a link, an image or a CSP source. Escaping keeps an
// address inside its attribute; these rules exclude `javascript:` and the like.

// http(s), mail, a path on this host, and private-use schemes, which contain a dot (RFC 8252 §7.1).
const linkable = /^(?:https?:\/\/[^\s/\\]|mailto:[^\s]|\/(?![/\\])|[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:)/i;
// From this server alone: a picture elsewhere would tell its owner who looks at the page, and when.
const showable = /^(?:data:image\/(?:png|jpeg|gif|webp|svg\+xml)[;,]|\/(?![/\\]))/i;

/** @returns the address if it is safe as a link, else '' */
export const safeLink = (value: unknown): string =>
  typeof value === 'string' && linkable.test(value) ? value : '';

/** @returns the address if it is safe as an image source under our CSP, else '' */
export const safeImage = (value: unknown): string =>
  typeof value === 'string' && showable.test(value) ? value : '';

/** What a Content-Security-Policy can name: no IPv6 address, and nothing that would end the directive. */
const nameable = /^https?:\/\/[a-z0-9._-]+(?::\d+)?$/;

const unsafeScheme = /^(?:javascript|data|blob|file|filesystem|about|vbscript):$/;

/**
 * A form-action source (CSP Level 3 §6.4.2) for a redirect URI: its origin, or its scheme where CSP has no way to
 * write the origin (private-use schemes; IPv6 literals, which the host-source grammar cannot express).
 * @param value an absolute URI, or a scheme (`https:`) for all of its hosts; an unusable one gives '', so that nothing
 *    from outside can end the directive
 */
export const formActionSource = (value: string): string => {
  const scheme = /^[a-z][a-z0-9+.-]*:$/i.exec(value)?.[0].toLowerCase();
  if (scheme !== undefined) return unsafeScheme.test(scheme) ? '' : scheme;
  if (!URL.canParse(value)) return '';
  const { protocol, origin } = new URL(value);
  if (unsafeScheme.test(protocol)) return '';
  if (protocol !== 'http:' && protocol !== 'https:') return protocol;
  // A host may have a semicolon or comma for URL parsers.
  return nameable.test(origin) ? origin : protocol;
};

/** A frame-src source (CSP Level 3 §6.1.6), for the legacy profile: the origin alone; nothing where it cannot be written. */
export const frameSource = (value: string): string => {
  const { origin = '' } = URL.parse(value) ?? {};
  return nameable.test(origin) ? origin : "'none'";
};
