// Handles a request before any middleware: reloads keys that another process changed, and serves the two public
// documents of the protocol from prepared bytes.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

interface Deps {
  /** The application behind it (Koa's callback). */
  readonly respond: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** What to wait for first; undefined if nothing. Never rejects. */
  readonly ready: () => Promise<void> | undefined;
  readonly mount: {
    readonly documents: { respond(request: IncomingMessage, response: ServerResponse): boolean };
  };
  readonly metrics: { documentAnswered(status: number, ms: number): void };
}

export function createListener({ respond, ready, mount, metrics }: Deps): RequestListener {
  function answer(request: IncomingMessage, response: ServerResponse): void {
    // Neither middleware nor a log line: only the metrics count these.
    const startedAt = performance.now();
    if (!mount.documents.respond(request, response)) void respond(request, response);
    else metrics.documentAnswered(response.statusCode, performance.now() - startedAt);
  }

  return (request, response) => {
    // About twice a second, one request waits for this, so that all processes use and publish the same keys.
    const pending = ready();
    if (pending === undefined) answer(request, response);
    else void pending.then(() => answer(request, response));
  };
}
