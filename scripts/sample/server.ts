// HTTP of the sample: this machine only, one origin, small forms, security headers. No framework, so that a reader sees
// everything that an application needs.
import { readFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type Html, html } from './html.ts';
import { layout } from './layout.ts';

export interface Question {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  /** Empty except for POST. */
  readonly form: URLSearchParams;
}

export type Answer = { readonly page: Html; readonly status: number } | { readonly location: string };

export type Handler = (question: Question) => Promise<Answer>;

interface Options {
  /** `METHOD /path` → its handler. */
  readonly routes: Readonly<Record<string, Handler>>;
  /** Of the sample itself, without a trailing slash. */
  readonly origin: string;
  /** Our forms may lead there too: signing out continues at the provider. */
  readonly provider: string;
  readonly onError: (error: unknown) => void;
}

const MAX_FORM_BYTES = 16_384;

const readFile = (name: string): Buffer => readFileSync(new URL(name, import.meta.url));

/** The provider's tokens, reset and elements: everything before its first component. */
function readElements(): Buffer {
  const [elements, components] = readFileSync(
    new URL('../../templates/assets/latchkey.css', import.meta.url),
    'utf8',
  ).split('\n.card {\n', 2);
  if (elements === undefined || components === undefined) throw new Error('latchkey.css has no .card');
  return Buffer.from(`${elements}\n`);
}

const FILES: Readonly<Record<string, readonly [type: string, content: Buffer]>> = {
  '/sample.css': ['text/css; charset=utf-8', Buffer.concat([readElements(), readFile('sample.css')])],
  '/sample.js': ['text/javascript; charset=utf-8', readFile('sample.js')],
  '/sample.svg': ['image/svg+xml', readFile('sample.svg')],
};

const message = (title: string, text: string, status: number): Answer => ({
  page: layout(
    title,
    html`<h1>${title}</h1><p class="lead">${text}</p><a class="button primary" href="/">Back</a>`,
  ),
  status,
});

async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > MAX_FORM_BYTES) return undefined;
    parts.push(part);
  }
  return new URLSearchParams(Buffer.concat(parts).toString('utf8'));
}

export function createListener({ routes, origin, provider, onError }: Options): RequestListener {
  const { host } = new URL(origin);
  const headers = {
    'Content-Security-Policy': `default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self' ${provider}; base-uri 'none'; frame-ancestors 'none'`,
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<Answer> {
    const target = request.url ?? '/';
    const url = URL.parse(target, origin);
    if (url?.origin !== origin) return message('Bad request', 'This address is not valid.', 400);
    // Another host name would have other cookies, and may be a DNS rebinding attack.
    if (request.headers.host !== host) return { location: origin + url.pathname + url.search };
    const { method = 'GET' } = request;
    const handler = routes[`${method} ${url.pathname}`];
    if (handler === undefined)
      return message('Page not found', 'This address is not one of the sample’s.', 404);
    if (method === 'GET') return handler({ request, response, url, form: new URLSearchParams() });
    // Cross-site requests are refused (CSRF).
    if (request.headers.origin !== origin)
      return message('Refused', 'This form came from another site.', 403);
    const form = await readForm(request);
    if (form === undefined) return message('Too large', 'The form was larger than allowed.', 413);
    return handler({ request, response, url, form });
  }

  function send(response: ServerResponse, result: Answer): void {
    if ('location' in result) response.writeHead(303, { Location: result.location }).end();
    else
      response.writeHead(result.status, { 'Content-Type': 'text/html; charset=utf-8' }).end(result.page.text);
  }

  return async (request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    const file = Object.hasOwn(FILES, request.url ?? '') ? FILES[request.url ?? ''] : undefined;
    if (file !== undefined) {
      response.writeHead(200, { 'Content-Type': file[0] }).end(file[1]);
      return;
    }
    try {
      send(response, await answer(request, response));
    } catch (error) {
      onError(error);
      if (response.headersSent) response.destroy();
      else send(response, message('Something went wrong', 'The terminal of the sample says what.', 500));
    }
  };
}
