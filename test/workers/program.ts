// The process of the worker tests: serves its pid on the port in PORT, and does what its first argument says.
import cluster from 'node:cluster';
import { createHttpServer, listen, stopServer } from '../../src/http/server.ts';
import { createLogger } from '../../src/log.ts';
import { runWorkers } from '../../src/process/workers.ts';

const [, , behaviour = 'serve', count = '1', port = '0', graceMs = '2000'] = process.argv;
const log = createLogger({ level: 'info', pretty: false });

const acts: Readonly<Record<string, () => void>> = {
  '/throw': () => {
    setImmediate(() => {
      throw new Error('nobody caught this');
    });
  },
  '/reject': () => void Promise.reject(new Error('nobody awaited this')),
  '/die': () => process.exit(3),
  '/kill': () => process.kill(process.pid, 'SIGKILL'),
};

await runWorkers({
  count: Number(count),
  log,
  graceMs: Number(graceMs),
  start: async () => {
    if (behaviour === 'fail') throw new Error('cannot start');
    const server = createHttpServer({
      handler: (request, response) => {
        const delayMs = Number(/^\/slow\/(\d+)/.exec(request.url ?? '')?.[1] ?? 0);
        if (delayMs > 0) log.info('asked');
        setTimeout(() => response.end(String(process.pid)), delayMs);
        response.once('finish', () => acts[request.url ?? '']?.());
      },
    });
    const bound = await listen(server, { port: Number(port), host: '127.0.0.1' });
    log.info({ port: bound, is_worker: cluster.isWorker }, 'listening');
    return {
      stop: async (reason) => {
        log.info({ reason }, 'stop called');
        if (behaviour === 'hang') await new Promise(() => setInterval(() => undefined, 1_000));
        if (behaviour === 'stop-fails') throw new Error('cannot stop');
        await stopServer(server, { graceMs: 1_500 });
      },
    };
  },
});
