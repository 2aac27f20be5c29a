// Redis with TLS as services offer it: a certificate that signed itself, made by openssl for each run, and a server that has
// taken the place of another.
import { execFile } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createServer, type TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { type RedisServer, type RedisServerOptions, startRedis } from './redis-server.ts';

const run = promisify(execFile);

export interface TlsCertificate {
  readonly keyFile: string;
  readonly certFile: string;
  /** SHA-256 of its DER form, hexadecimal. */
  readonly pin: string;
}

/** For no name in particular, valid for two days. */
export async function makeTlsCertificate(folder: string, name: string): Promise<TlsCertificate> {
  const [keyFile, certFile] = [join(folder, `${name}.key`), join(folder, `${name}.pem`)];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  await run('openssl', ['req', ...kind, '-subj', `/CN=${name}`, '-keyout', keyFile, '-out', certFile]);
  const { raw } = new X509Certificate(await readFile(certFile));
  return { keyFile, certFile, pin: createHash('sha256').update(raw).digest('hex') };
}

export function startTlsRedis(
  { keyFile, certFile }: TlsCertificate,
  { config = [], cliOptions = [], ...options }: RedisServerOptions = {},
): Promise<RedisServer> {
  const tls = [
    `tls-cert-file ${certFile}`,
    `tls-key-file ${keyFile}`,
    `tls-ca-cert-file ${certFile}`,
    'tls-auth-clients no',
    'tls-replication yes',
  ];
  return startRedis({
    ...options,
    isTls: true,
    config: [...tls, ...config],
    cliOptions: ['--tls', '--insecure', ...cliOptions],
  });
}

/** Answers in another's place and keeps what clients send after the handshake. */
export async function startImpostor(
  { keyFile, certFile }: TlsCertificate,
  port: number,
): Promise<{ attempts(): number; received(): string; stop(): Promise<void> }> {
  const [key, cert] = await Promise.all([readFile(keyFile), readFile(certFile)]);
  const sockets = new Set<TLSSocket>();
  let attempts = 0;
  let received = '';
  const server = createServer({ key, cert }, (socket) => {
    sockets.add(socket);
    socket.on('data', (chunk) => {
      received += String(chunk);
    });
    socket.on('error', () => socket.destroy());
  });
  // Whoever refuses the certificate is gone before the handshake is complete here.
  server.on('connection', () => {
    attempts += 1;
  });
  server.on('tlsClientError', () => undefined);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    attempts: () => attempts,
    received: () => received,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
