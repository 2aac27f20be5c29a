// HTTP of the sample MCP server (streamable HTTP): who may call, and where a client that has no token finds the provider
// (RFC 9728, RFC 6750 §3). Each request is a message, each answer is JSON; it opens no streams and keeps no sessions.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { answerTo, notAMessage, readMessage, scopeNeeded } from './messages.ts';
import type { CheckToken } from './tokens.ts';
import { createTools, scopes } from './tools.ts';

interface Options {
  /** Of the server, without a trailing slash. */
  readonly origin: string;
  readonly issuer: URL;
  readonly checkToken: CheckToken;
  readonly onError: (error: unknown) => void;
}

/** Where messages are sent, which with the origin is the API's identifier. */
export const MCP_PATH = '/mcp';

const MAX_BYTES = 65_536;
/** Needed for every call. */
const [{ name: BASE_SCOPE }] = scopes;

async function readText(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > MAX_BYTES) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function send(response: ServerResponse, status: number, body?: object): void {
  response.statusCode = status;
  if (body === undefined) response.end();
  else response.setHeader('Content-Type', 'application/json').end(JSON.stringify(body));
}

export function createMcpListener({ origin, issuer, checkToken, onError }: Options): RequestListener {
  const tools = createTools();
  const resource = origin + MCP_PATH;
  const metadataPath = `/.well-known/oauth-protected-resource${MCP_PATH}`;
  const metadata = {
    resource,
    resource_name: 'Sample notes',
    authorization_servers: [issuer.href],
    scopes_supported: scopes.map(({ name }) => name),
    bearer_methods_supported: ['header'],
  };

  function refuse(
    response: ServerResponse,
    status: 401 | 403,
    facts: Readonly<Record<string, string>>,
  ): void {
    const all = { ...facts, resource_metadata: origin + metadataPath };
    const parameters = Object.entries(all).map(([name, value]) => `${name}="${value}"`);
    response.setHeader('WWW-Authenticate', `Bearer ${parameters.join(', ')}`);
    send(response, status, { error: facts.error ?? 'unauthorized' });
  }

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, token] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
    // What a client asks for at first; a tool that needs more says so.
    if (token === undefined) return refuse(response, 401, { scope: BASE_SCOPE });
    const caller = await checkToken(token);
    if (caller === undefined) return refuse(response, 401, { error: 'invalid_token', scope: BASE_SCOPE });
    const text = await readText(request);
    if (text === undefined) return send(response, 413);
    const message = readMessage(text);
    if (message === undefined) return send(response, 400, { jsonrpc: '2.0', id: null, ...notAMessage });
    const needed = [BASE_SCOPE, scopeNeeded(message, tools) ?? BASE_SCOPE];
    if (needed.some((scope) => !caller.scopes.has(scope))) {
      const scope = [...new Set(needed)].join(' ');
      return refuse(response, 403, { error: 'insufficient_scope', scope });
    }
    const answer = answerTo(message, caller, tools);
    if (answer === undefined) return send(response, 202);
    send(response, 200, { jsonrpc: '2.0', id: message.id, ...answer });
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('Cache-Control', 'no-store').setHeader('X-Content-Type-Options', 'nosniff');
    const path = URL.parse(request.url ?? '/', origin)?.pathname;
    // Another site's page, or a name of its own that leads to this machine (DNS rebinding).
    const { origin: from = origin, host } = request.headers;
    if (from !== origin || host !== new URL(origin).host) return send(response, 403);
    if (path === metadataPath && request.method === 'GET') return send(response, 200, metadata);
    if (path !== MCP_PATH) return send(response, 404);
    if (request.method === 'POST') return take(request, response);
    response.setHeader('Allow', 'POST');
    send(response, 405);
  }

  return (request, response) => {
    answer(request, response).catch((error: unknown) => {
      onError(error);
      if (response.headersSent) response.destroy();
      else send(response, 503, { error: 'The provider of the access tokens cannot be asked.' });
    });
  };
}
