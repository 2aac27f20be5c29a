// The lower bound: a bare node:http server that creates as many RS256 signatures as the measured operation must, and sends as
// many bytes.
import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:http';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const data = Buffer.alloc(600, 'x');

const signTimes = async (count: number): Promise<void> => {
  for (let index = 0; index < count; index += 1) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    sign('sha256', data, privateKey, (error) => (error ? reject(error) : resolve()));
    await promise;
  }
};

// POST /<signatures>/<bytes> or GET /0/<bytes>
const server = createServer((request, response) => {
  const [, signatures = '0', bytes = '100'] = (request.url ?? '').split('/');
  const answer = async (): Promise<void> => {
    await signTimes(Number(signatures));
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': bytes });
    response.end('x'.repeat(Number(bytes)));
  };
  if (request.method === 'GET') void answer();
  else {
    request.resume();
    request.once('end', () => void answer());
  }
});

server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`${JSON.stringify({ port: typeof address === 'object' ? address?.port : 0 })}\n`);
});
process.once('SIGTERM', () => process.exit(0));
