// A browser of the load generator: one connection, its cookies, and a whole sign-in over it (authorize, page, password, code).
import { createConnection } from 'node:net';
import { requestBytes } from './http-load.ts';
import { type Prepared, USER } from './prepare.ts';

interface Answer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

export interface Connection {
  /** @throws Error on a response that is no success */
  send(
    method: 'GET' | 'POST',
    path: string,
    headers?: Record<string, string>,
    body?: string,
  ): Promise<Answer>;
  close(): void;
}

export function openConnection(port: number): Connection {
  const socket = createConnection({ port, host: '127.0.0.1', noDelay: true });
  const cookies = new Map<string, string>();
  let received = Buffer.alloc(0);
  let waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;
  socket.on('error', (error) => waiting?.reject(error));
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    const headEnd = received.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const head = received.toString('latin1', 0, headEnd);
    const end = headEnd + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (received.length < end) return;
    const body = received.toString('utf8', headEnd + 4, end);
    received = received.subarray(end);
    for (const [, name = '', value = ''] of head.matchAll(/\r\nset-cookie: ([^=]+)=([^;\r]*)/gi))
      cookies.set(name, value);
    waiting?.resolve({ status: Number(head.slice(9, 12)), head, body });
  });
  return {
    async send(method, path, headers = {}, body = '') {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const answered = new Promise<Answer>((resolve, reject) => {
        waiting = { resolve, reject };
      });
      socket.write(requestBytes(method, path, { ...(cookie && { Cookie: cookie }), ...headers }, body));
      const answer = await answered;
      if (answer.status >= 400)
        throw new Error(`${method} ${path}: ${answer.status} ${answer.body.slice(0, 200)}`);
      return answer;
    },
    close: () => socket.destroy(),
  };
}

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const MAX_HOPS = 8;

const locationIn = ({ head }: Answer): string => /\r\nlocation: ([^\r]*)/i.exec(head)?.[1] ?? '';
/** @returns path and query, where it leads to this server */
const pathOf = (location: string, port: number): string | undefined => {
  const url = URL.parse(location, `http://127.0.0.1:${port}`);
  return url?.port === String(port) ? `${url.pathname}${url.search}` : undefined;
};

/** Authorization request, sign-in page, password, code, tokens, as a new browser. @throws Error where a step does not succeed */
export async function signIn(port: number, prepared: Prepared): Promise<void> {
  const browser = openConnection(port);
  try {
    let answer = await browser.send('GET', prepared.authorize, { Accept: 'text/html' });
    for (let hops = 0; answer.status === 303 && hops < MAX_HOPS; hops += 1)
      answer = await browser.send('GET', pathOf(locationIn(answer), port) ?? '/', { Accept: 'text/html' });
    const field = (name: string): string =>
      new RegExp(`name="${name}" value="([^"]*)"`).exec(answer.body)?.[1] ?? '';
    const form = new URLSearchParams({ ...USER, csrf: field('csrf'), interaction: field('interaction') });
    answer = await browser.send('POST', '/oauth2/login', FORM, form.toString());
    let next = pathOf(locationIn(answer), port);
    for (let hops = 0; next !== undefined && hops < MAX_HOPS; hops += 1) {
      answer = await browser.send('GET', next, { Accept: 'text/html' });
      next = pathOf(locationIn(answer), port);
    }
    const code = URL.parse(locationIn(answer))?.searchParams.get('code');
    if (!code) throw new Error(`no code: ${answer.status} ${answer.body.slice(0, 200)}`);
    const headers = { ...FORM, Authorization: prepared.basic };
    await browser.send('POST', '/oauth2/token', headers, prepared.exchange(code));
  } finally {
    browser.close();
  }
}
