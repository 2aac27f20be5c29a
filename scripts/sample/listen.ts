// Where a sample listens: this machine only.
import type { Server } from 'node:http';

/** @returns the port, which differs from the requested one when that is 0 @throws Error saying why it cannot be used */
export async function listen(server: Server, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen({ port, host: 'localhost' }, resolve);
  try {
    await promise;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Port ${port} cannot be used (${reason}). Choose another one with --port.`);
  }
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}
