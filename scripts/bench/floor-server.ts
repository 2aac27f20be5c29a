// The lower bound: a bare node:http server that creates as many RS256 signatures, or argon2id hashes, as the measured operation must,
// and sends as many bytes.
import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:http';
import { argon2id, hash } from 'argon2';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const data = Buffer.alloc(600, 'x');
/** The product's (src/accounts/passwords/password.ts). */
const HASH = { type: argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

const signTimes = async (count: number): Promise<void> => {
  for (let index = 0; index < count; index += 1) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    sign('sha256', data, privateKey, (error) => (error ? reject(error) : resolve()));
    await promise;
  }
};

// POST /<signatures>/<bytes>, GET /0/<bytes>, or GET /hash
const server = createServer((request, response) => {
  const [, first = '0', bytes = '100'] = (request.url ?? '').split('/');
  const answer = async (): Promise<void> => {
    if (first === 'hash') await hash('correct horse battery staple', HASH);
    else await signTimes(Number(first));
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
