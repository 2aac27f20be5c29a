// An application inside the network: an HTTP server on loopback that notes what arrives.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

export interface Receiver {
  readonly port: number;
  readonly received: readonly { readonly url: string; readonly body: string }[];
  close(): void;
}

export async function startReceiver(
  answer: (request: IncomingMessage, response: ServerResponse) => void = (_request, response) =>
    response.end(),
): Promise<Receiver> {
  const received: { url: string; body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    received.push({ url: request.url ?? '', body });
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    received,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
