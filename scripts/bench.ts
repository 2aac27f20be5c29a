// Measures speed relative to physical limits (docs/sizing.md, "Speed"): each operation and its lower bound in short alternating
// rounds of one run, so that noise of the machine affects both. Usage: --help.
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { load, type NextRequest, requestBytes } from './bench/http-load.ts';
import { type Prepared, prepare } from './bench/prepare.ts';
import { isPinned, type Server, startServer } from './bench/processes.ts';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '8' },
    ms: { type: 'string', default: '1000' },
    connections: { type: 'string', default: '16' },
    only: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

if (options.help) {
  process.stdout.write(
    `Measures Latchkey on this machine against bare node:http with the same signatures.\n` +
      `  --rounds N        rounds per operation (8)\n  --ms N            length of a round (1000)\n` +
      `  --connections N   (16)\n  --only TEXT       only operations whose name contains TEXT\n`,
  );
  process.exit(0);
}

interface Operation {
  readonly name: string;
  readonly goal: number;
  /** Path at the floor server: /signatures/bytes. */
  readonly floor: Buffer;
  /** Called for each round; may prepare codes and tokens first. */
  readonly requests: (prepared: Prepared) => Promise<NextRequest> | NextRequest;
}

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

const always =
  (request: Buffer): NextRequest =>
  () =>
    request;

const operations: readonly Operation[] = [
  {
    name: 'P1 client credentials (RS256 JWT)',
    goal: 0.9,
    floor: requestBytes('POST', '/1/900', FORM, 'x'.repeat(60)),
    requests: ({ basic }) =>
      always(
        requestBytes(
          'POST',
          '/oauth2/token',
          { ...FORM, Authorization: basic },
          'grant_type=client_credentials',
        ),
      ),
  },
  {
    name: 'P2 code exchange (access, ID and refresh token)',
    goal: 0.72,
    floor: requestBytes('POST', '/2/2300', FORM, 'x'.repeat(200)),
    async requests(prepared) {
      const codes = await prepared.codes(Math.ceil(Number(options.ms) * 1.5));
      return () => {
        const code = codes.pop();
        if (code === undefined) return undefined;
        return requestBytes(
          'POST',
          '/oauth2/token',
          { ...FORM, Authorization: prepared.basic },
          prepared.exchange(code),
        );
      };
    },
  },
  {
    name: 'P3 refresh with rotation',
    goal: 0.72,
    floor: requestBytes('POST', '/2/2300', FORM, 'x'.repeat(120)),
    async requests(prepared) {
      const tokens = await prepared.refreshTokens(Number(options.connections));
      return (connection, body) => {
        const token = body === '' ? (tokens[connection] ?? '') : String(JSON.parse(body).refresh_token);
        return requestBytes(
          'POST',
          '/oauth2/token',
          { ...FORM, Authorization: prepared.basic },
          `grant_type=refresh_token&refresh_token=${token}`,
        );
      };
    },
  },
  {
    name: 'P5 discovery',
    goal: 0.8,
    floor: requestBytes('GET', '/0/2300', {}),
    requests: () => always(requestBytes('GET', '/.well-known/openid-configuration', {})),
  },
  {
    name: 'P5 JWKS',
    goal: 0.8,
    floor: requestBytes('GET', '/0/450', {}),
    requests: () => always(requestBytes('GET', '/.well-known/jwks.json', {})),
  },
  {
    name: 'P6 userinfo',
    goal: 0.25,
    floor: requestBytes('POST', '/0/200', FORM, 'x'.repeat(20)),
    async requests(prepared) {
      const token = await prepared.accessToken();
      return always(requestBytes('GET', '/oauth2/userinfo', { Authorization: `Bearer ${token}` }));
    },
  },
  {
    name: 'P6 introspection (admin bearer)',
    goal: 0.25,
    floor: requestBytes('POST', '/0/500', FORM, 'x'.repeat(900)),
    async requests(prepared) {
      const token = await prepared.accessToken();
      const headers = { ...FORM, Authorization: `Bearer ${prepared.adminToken}` };
      return always(requestBytes('POST', '/oauth2/introspect', headers, `token=${token}`));
    },
  },
  {
    name: 'P6 introspection (client)',
    goal: 0.2,
    floor: requestBytes('POST', '/0/500', FORM, 'x'.repeat(900)),
    async requests(prepared) {
      const token = await prepared.accessToken();
      const headers = { ...FORM, Authorization: prepared.basic };
      return always(requestBytes('POST', '/oauth2/introspect', headers, `token=${token}`));
    },
  },
];

const quantile = (values: readonly number[], q: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
};

async function measure(server: Server, next: NextRequest, ms: number) {
  const cpuBefore = server.cpuMicros();
  const result = await load(server, { connections: Number(options.connections), ms, next });
  return {
    perSecond: result.requests / result.seconds,
    cpu: (server.cpuMicros() - cpuBefore) / result.requests,
    p50: result.latencies[Math.floor(result.latencies.length / 2)] ?? Number.NaN,
  };
}

const folder = mkdtempSync(join(tmpdir(), 'latchkey-bench-'));
const adminToken = randomBytes(32).toString('base64url');
const floor = await startServer('scripts/bench/floor-server.ts', [], {}, (line) =>
  Number(JSON.parse(line).port),
);
const latchkey = await startServer(
  'src/main.ts',
  [],
  // A fixed port: the address is part of every token.
  {
    DATA_DIR: folder,
    PORT: '39517',
    BASE_URL: 'http://127.0.0.1:39517',
    ADMIN_TOKEN: adminToken,
    LOG_LEVEL: 'info',
  },
  (line) => (line.includes('"listening"') ? 39_517 : undefined),
);
try {
  const prepared = await prepare({
    url: `http://127.0.0.1:${latchkey.port}`,
    adminToken,
    digest: challengeOf,
  });
  const pinning = isPinned ? 'servers on core 0' : 'not pinned';
  process.stdout.write(
    `${options.rounds} rounds of ${options.ms} ms, ${options.connections} connections, ${pinning}\n`,
  );
  for (const operation of operations) {
    if (options.only !== undefined && !operation.name.includes(options.only)) continue;
    const ratios: number[] = [];
    const rates: number[] = [];
    const cpus: number[] = [];
    for (let round = -1; round < Number(options.rounds); round += 1) {
      const ms = Number(options.ms);
      const next = await operation.requests(prepared);
      const ours = await measure(latchkey, next, ms);
      const bare = await measure(floor, always(operation.floor), ms);
      if (round < 0) continue; // warm-up
      ratios.push(ours.perSecond / bare.perSecond);
      rates.push(ours.perSecond);
      cpus.push(ours.cpu);
    }
    const [low, middle, high] = [0.25, 0.5, 0.75].map((q) => quantile(ratios, q).toFixed(2));
    const verdict = quantile(ratios, 0.5) >= operation.goal ? 'met' : 'NOT met';
    process.stdout.write(
      `${operation.name.padEnd(50)} ${middle} of the floor (${low}-${high}), goal ${operation.goal} ${verdict}; ` +
        `${quantile(rates, 0.5).toFixed(0)}/s, ${quantile(cpus, 0.5).toFixed(0)} us CPU each\n`,
    );
  }
  process.stdout.write(`resident after load: ${latchkey.residentMib().toFixed(0)} MiB\n`);
} finally {
  await Promise.all([floor.stop(), latchkey.stop()]);
  rmSync(folder, { recursive: true, force: true });
}

function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}
