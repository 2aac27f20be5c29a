// Requests without a network, through everything that a request from outside passes. This is how the Admin UI uses the token
// endpoint, on whatever address the server listens and whatever BASE_URL is.
import { IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

export interface InjectedResponse {
  readonly status: number;
  readonly body: string;
}

export interface InjectOptions {
  /** Sent as `Authorization`, by GET. */
  readonly bearer?: string;
  /** Gets the request before it is handled: the object identifies it, and no client can send that. */
  readonly mark?: (request: IncomingMessage) => void;
}

/** @param caller the request that causes this one: its address and browser are passed on */
export type InjectRequest = (
  path: string,
  fields: Readonly<Record<string, string>>,
  caller: IncomingMessage,
  options?: InjectOptions,
) => Promise<InjectedResponse>;

/** A connection that keeps what is written to it. */
class MemorySocket extends Socket {
  readonly written: Buffer[] = [];
  constructor(remoteAddress: string | undefined) {
    super();
    // A getter of the class, which has no connection to ask.
    Object.defineProperty(this, 'remoteAddress', { value: remoteAddress });
  }
  override _read(): void {
    // Nothing is received: the request is passed as a whole.
  }
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.written.push(Buffer.from(chunk));
    done();
  }
}

const HEAD_END = '\r\n\r\n';

const passedOn = ['user-agent', 'x-forwarded-for', 'x-forwarded-proto', 'forwarded'] as const;

export interface Injector {
  readonly ask: InjectRequest;
  /** @param listener of the whole server; once, before the first request */
  attach(listener: RequestListener): void;
}

export function createInjector(): Injector {
  let attached: RequestListener | undefined;

  const ask: InjectRequest = async (path, fields, caller, { bearer, mark } = {}) => {
    if (attached === undefined) throw new TypeError('the server is not attached');
    const body = Buffer.from(new URLSearchParams(fields).toString());
    const socket = new MemorySocket(caller.socket.remoteAddress);
    const request = new IncomingMessage(socket);
    request.method = bearer === undefined ? 'POST' : 'GET';
    request.url = path;
    for (const name of passedOn) {
      const value = caller.headers[name];
      if (value !== undefined) request.headers[name] = String(value);
    }
    if (bearer === undefined) {
      request.headers['content-type'] = 'application/x-www-form-urlencoded';
      request.headers['content-length'] = String(body.length);
      request.push(body);
    } else request.headers.authorization = `Bearer ${bearer}`;
    request.headers.accept = 'application/json';
    mark?.(request);
    // Otherwise its end would look like a closed connection.
    request.complete = true;
    request.push(null);
    const response = new ServerResponse(request);
    response.assignSocket(socket);
    const finished = new Promise<void>((resolve, reject) => {
      response.once('finish', resolve);
      response.once('close', resolve);
      response.once('error', reject);
    });
    attached(request, response);
    await finished;
    const text = Buffer.concat(socket.written).toString('utf8');
    socket.destroy();
    return { status: response.statusCode, body: text.slice(text.indexOf(HEAD_END) + HEAD_END.length) };
  };

  return {
    ask,
    attach(listener) {
      attached = listener;
    },
  };
}
