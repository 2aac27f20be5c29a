// In-process requests: they pass everything that a request from outside passes, without a network. This is how our own
// application (the Admin UI) uses the public token endpoint wherever we listen and whatever BASE_URL is.
import { IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

export interface OwnAnswer {
  readonly status: number;
  readonly body: string;
}

export interface OwnRequestOptions {
  /** Sent as `Authorization`, by GET. */
  readonly bearer?: string;
  /** Sees the request before it is answered: it is known by its object, which nobody outside can send. */
  readonly mark?: (request: IncomingMessage) => void;
}

/** @param caller whose request causes this one: address and browser are told as they are */
export type AskOurselves = (
  path: string,
  fields: Readonly<Record<string, string>>,
  caller: IncomingMessage,
  options?: OwnRequestOptions,
) => Promise<OwnAnswer>;

/** Stands where a connection would be, and keeps what is written. */
class Wire extends Duplex {
  readonly written: Buffer[] = [];
  readonly remoteAddress: string | undefined;
  constructor(remoteAddress: string | undefined) {
    super();
    this.remoteAddress = remoteAddress;
  }
  override _read(): void {
    // Nothing comes over it: the request is handed over as a whole.
  }
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.written.push(Buffer.from(chunk));
    done();
  }
}

const HEAD_END = '\r\n\r\n';

const told = ['user-agent', 'x-forwarded-for', 'x-forwarded-proto', 'forwarded'] as const;

export interface InProcess {
  readonly ask: AskOurselves;
  /** @param listener of the whole server; once, before the first request */
  attach(listener: RequestListener): void;
}

export function createInProcess(): InProcess {
  let attached: RequestListener | undefined;

  const ask: AskOurselves = async (path, fields, caller, { bearer, mark } = {}) => {
    if (attached === undefined) throw new TypeError('the server is not attached');
    const body = Buffer.from(new URLSearchParams(fields).toString());
    const wire = new Wire(caller.socket.remoteAddress);
    // Node's HTTP classes use of a socket what a stream has, and the address.
    const request = new IncomingMessage(wire as unknown as Socket);
    request.method = bearer === undefined ? 'POST' : 'GET';
    request.url = path;
    for (const name of told) {
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
    // Or its end would look like somebody who hung up.
    request.complete = true;
    request.push(null);
    const response = new ServerResponse(request);
    response.assignSocket(wire as unknown as Socket);
    const finished = new Promise<void>((resolve, reject) => {
      response.once('finish', resolve);
      response.once('close', resolve);
      response.once('error', reject);
    });
    attached(request, response);
    await finished;
    const text = Buffer.concat(wire.written).toString('utf8');
    wire.destroy();
    return { status: response.statusCode, body: text.slice(text.indexOf(HEAD_END) + HEAD_END.length) };
  };

  return {
    ask,
    attach(listener) {
      attached = listener;
    },
  };
}
