// Where a sample listens: this machine only.
import type { Server } from 'node:http';

const PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use',
  EACCES: 'may not be used by this user',
};

/** @returns the port, which differs from the requested one when that is 0 @throws Error saying why it cannot be used */
export async function listen(server: Server, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen({ port, host: 'localhost' }, resolve);
  try {
    await promise;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const reason = PROBLEMS[code] ?? `cannot be used (${error instanceof Error ? error.message : error})`;
    throw new Error(`Port ${port} ${reason}. Choose another one with --port.`);
  }
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}
