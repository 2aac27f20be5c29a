// Request heads that are rejected before they are handled. Node limits the head as a whole; these limits are
// for its parts, and no legitimate client reaches them.
import type { IncomingMessage } from 'node:http';

export interface Refusal {
  readonly status: 400 | 414 | 431;
  readonly message: string;
}

export const MAX_HEADER_BYTES = 32 * 1024;
/** Longest request target, path and query, in characters: an ID token as a hint may be long. Proxies mostly take 8 kB. */
export const MAX_TARGET = 24 * 1024 - 1;
const MAX_HEADERS = 128;
/** On localhost a browser sends the cookies of all programs there, whatever their ports (RFC 6265 §8.5). */
export const MAX_COOKIE_BYTES = 16 * 1024 - 1;
const MAX_COOKIES = 128;

export const cookieRefusal: Refusal = {
  status: 431,
  message:
    'The request headers are too large. If this is a browser, its cookies for this site were cleared: reload.',
};

/** RFC 9112 §3.2: with two Host headers, two readers can disagree about the target of the request. */
function hasTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count > 1;
}

const countOf = (text: string, mark: string): number => text.split(mark, MAX_COOKIES + 1).length;

/**
 * Also converts an absolute-form target (`GET http://any.host/a`, RFC 9112 §3.2.2) to origin-form, so that no later
 * code sees a host that the client chose.
 * @returns undefined if the head is valid
 */
export function refuseHead(request: IncomingMessage): Refusal | undefined {
  const { url = '' } = request;
  const target = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*/i, '');
  if (target.length > MAX_TARGET)
    return {
      status: 414,
      message: 'The address is too long. The application can send the same request as a form, by POST.',
    };
  // RFC 9112 §3.2.4: `*` is for OPTIONS to the server as a whole, which is not supported.
  if (!/^[/?]/.test(target)) return { status: 400, message: 'The request target is not a path.' };
  request.url = target.startsWith('?') ? `/${target}` : target;
  if (request.rawHeaders.length > MAX_HEADERS * 2) return { status: 431, message: 'Too many header fields.' };
  if (hasTwoHosts(request)) return { status: 400, message: 'The request names two hosts.' };
  const { cookie } = request.headers;
  if (cookie === undefined) return undefined;
  return cookie.length > MAX_COOKIE_BYTES || countOf(cookie, ';') > MAX_COOKIES ? cookieRefusal : undefined;
}
