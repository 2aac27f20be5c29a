// Handles a request before any middleware: reloads keys that another process changed, serves the two public documents of the
// protocol from prepared bytes, and lets its plain answers (src/oidc/plain/) have the first look.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { RequestLog } from './request-log.ts';

interface Deps {
  /** The application behind it (Koa's callback). */
  readonly respond: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** What to wait for first; undefined if nothing. Never rejects. */
  readonly ready: () => Promise<void> | undefined;
  readonly mount: {
    readonly documents: { respond(request: IncomingMessage, response: ServerResponse): boolean };
  };
  readonly metrics: { documentAnswered(status: number, ms: number): void };
  /** Whether it answered; undefined at once where it does not look. It never rejects. */
  readonly plain:
    | ((request: IncomingMessage, response: ServerResponse, begin: Begin) => Promise<boolean> | undefined)
    | undefined;
  readonly begin: RequestLog['begin'];
}

type Begin = (asked: Parameters<RequestLog['begin']>[2]) => ReturnType<RequestLog['begin']>;

export function createListener({ respond, ready, mount, metrics, plain, begin }: Deps): RequestListener {
  function answer(request: IncomingMessage, response: ServerResponse): void {
    // Neither middleware nor a log line: only the metrics count these.
    const startedAt = performance.now();
    if (mount.documents.respond(request, response)) {
      metrics.documentAnswered(response.statusCode, performance.now() - startedAt);
      return;
    }
    const plainly = plain?.(request, response, (asked) => begin(request, response, asked));
    if (plainly === undefined) void respond(request, response);
    else void plainly.then((isAnswered) => (isAnswered ? undefined : respond(request, response)));
  }

  return (request, response) => {
    // About twice a second, one request waits for this, so that all processes use and publish the same keys.
    const pending = ready();
    if (pending === undefined) answer(request, response);
    else void pending.then(() => answer(request, response));
  };
}
