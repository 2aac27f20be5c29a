// A web server of a client for the browser beside it, with the Web's own Request and Response.
import { createServer } from 'node:http';
import { ask, expect, redirectUri } from './wire.mjs';

export const { origin, port } = new URL(redirectUri);

export const visit = async (path, more = {}) => (await ask({ visit: `${origin}${path}`, ...more })).page;

export function see(page, text) {
  expect(page.status === 200 && page.body.includes(text), `a page with ${text}`, page);
}

async function requestOf(incoming) {
  const chunks = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const hasBody = !['GET', 'HEAD'].includes(incoming.method);
  return new Request(`${origin}${incoming.url}`, {
    method: incoming.method,
    headers: Object.entries(incoming.headersDistinct).flatMap(([name, values]) =>
      values.map((value) => [name, value]),
    ),
    ...(hasBody && { body: Buffer.concat(chunks) }),
  });
}

/** @param handle from a Request to a Response */
export async function serve(handle) {
  const server = createServer(async (incoming, outgoing) => {
    try {
      const response = await handle(await requestOf(incoming));
      outgoing.statusCode = response.status;
      for (const [name, value] of response.headers)
        if (name !== 'set-cookie') outgoing.setHeader(name, value);
      outgoing.setHeader('set-cookie', response.headers.getSetCookie());
      outgoing.end(Buffer.from(await response.arrayBuffer()));
    } catch (error) {
      outgoing.statusCode = 500;
      outgoing.end(String(error.stack));
    }
  });
  await new Promise((resolve) => server.listen(Number(port), 'localhost', resolve));
}
