// The metrics of this product and the fixed words of their labels: never a client, a user, an address or a
// path. Counting is one addition; everything else happens at a scrape.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { memberOf } from '../json.ts';
import { eventRow } from '../model/events/events.ts';
import { grantWords } from '../model/grant-types.ts';
import { isBy } from '../model/ways-to-sign-in.ts';
import { createRegistry, type Registry, type Sample } from './registry.ts';
import { routeClassOf } from './route-class.ts';

export interface MetricsOptions {
  readonly version: string;
  /** Index among the processes that share the port (WEB_CONCURRENCY). */
  readonly worker: string;
  /** BASE_URL's path without a trailing slash. */
  readonly basePath: string;
}

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '));
const ENDPOINTS = words('token userinfo introspection revocation par device_authorization admin');
const REFUSALS = words(
  'invalid_request invalid_client invalid_grant unauthorized_client unsupported_grant_type invalid_scope invalid_target ' +
    'invalid_token insufficient_scope access_denied expired_token unsupported_token_type temporarily_unavailable ' +
    'server_error invalid_redirect_uri unsupported_response_type invalid_dpop_proof use_dpop_nonce ' +
    'auth.invalid_token auth.insufficient_scope',
);
const GRANT_TYPES: ReadonlySet<string> = new Set(grantWords);
const among = (list: ReadonlySet<string>, word: string): string => (list.has(word) ? word : 'other');

/** @param amr of the session (RFC 8176) */
function methodOf(amr: unknown): string {
  const values: readonly unknown[] = Array.isArray(amr) ? amr : [];
  const more = isBy.secondStep(values) ? '_and_second_factor' : '';
  if (isBy.password(values)) return `password${more}`;
  if (isBy.passkey(values)) return 'passkey';
  return isBy.mailedLink(values) ? `email_link${more}` : 'other';
}

const LOOP_STEP_MS = 20;

/** Read at a scrape; the event loop is monitored from the first scrape on. */
function readProcess(registry: Registry): void {
  const one = (value: number): Sample[] => [{ value }];
  const add = (type: 'counter' | 'gauge', name: string, help: string, read: () => Sample[]): void =>
    registry.read({ name, type, help }, read);
  add('counter', 'process_cpu_seconds_total', 'User and system time.', () => {
    const { user, system } = process.cpuUsage();
    return one((user + system) / 1e6);
  });
  add('gauge', 'process_resident_memory_bytes', 'Resident memory.', () => one(process.memoryUsage.rss()));
  add('gauge', 'nodejs_heap_used_bytes', 'JavaScript heap in use.', () =>
    one(process.memoryUsage().heapUsed),
  );
  add('gauge', 'process_start_time_seconds', 'Start, in seconds since 1970.', () =>
    one(performance.timeOrigin / 1000),
  );
  let loop: ReturnType<typeof monitorEventLoopDelay> | undefined;
  add('gauge', 'nodejs_eventloop_delay_seconds', 'Delay of the event loop since the last scrape.', () => {
    if (loop === undefined) {
      loop = monitorEventLoopDelay({ resolution: LOOP_STEP_MS });
      loop.enable();
      return [];
    }
    const { mean, max } = loop;
    const p99 = loop.percentile(99);
    const hasData = loop.count > 0;
    loop.reset();
    const samples = Object.entries({ mean, p99, max });
    // The monitor measures whole sampling intervals, which are no delay themselves.
    const late = (value: number): number => Math.max(0, value / 1e9 - LOOP_STEP_MS / 1000);
    return hasData ? samples.map(([stat, value]) => ({ labels: { stat }, value: late(value) })) : [];
  });
}

export function createMetrics({ version, worker, basePath }: MetricsOptions) {
  const registry = createRegistry({ worker });
  const signIns = registry.counter('latchkey_sign_ins_total', 'Sign-ins and failed steps of them.', [
    'result',
    'method',
  ]);
  const lockouts = registry.counter('latchkey_lockouts_total', 'Accounts locked for unknown browsers.', []);
  const tokens = registry.counter('latchkey_tokens_issued_total', 'Answers with tokens.', ['grant_type']);
  const refusals = registry.counter('latchkey_token_refusals_total', 'Refused tokens and token requests.', [
    'endpoint',
    'error',
  ]);
  const requests = registry.counter('latchkey_http_requests_total', 'Requests answered.', [
    'route',
    'status',
  ]);
  const durations = registry.histogram('latchkey_http_request_duration_seconds', 'Time to the last byte.', [
    'route',
  ]);
  const stores = registry.histogram('latchkey_store_operation_duration_seconds', 'Time the store took.', [
    'kind',
  ]);
  const storeFailures = registry.counter('latchkey_store_unavailable_total', 'The store did not answer.', [
    'kind',
  ]);
  registry.read({ name: 'latchkey_build_info', type: 'gauge', help: 'What runs here.' }, () => [
    { labels: { version, node: process.versions.node }, value: 1 },
  ]);
  readProcess(registry);

  const answered = (route: string, status: number | undefined, ms: number): void => {
    requests.add(route, status === undefined ? 'aborted' : `${Math.floor(status / 100)}xx`);
    durations.observe(ms / 1000, route);
  };

  return {
    /** An event of the audit log. */
    event({ event, details }: { readonly event: string; readonly details?: object | undefined }): void {
      const { result, method } = eventRow(event)?.counter ?? {};
      if (result === 'locked') lockouts.add();
      else if (result !== undefined) signIns.add(result, method ?? methodOf(memberOf(details, 'amr')));
    },
    issued(grantType: string): void {
      tokens.add(among(GRANT_TYPES, grantType));
    },
    refused(endpoint: string, error: string): void {
      refusals.add(among(ENDPOINTS, endpoint), among(REFUSALS, error));
    },
    documentAnswered(status: number, ms: number): void {
      answered('documents', status, ms);
    },
    /** @param status undefined: the client disconnected before the response was complete */
    answered(path: string, status: number | undefined, ms: number): void {
      const isBelow = basePath === '' || path === basePath || path.startsWith(`${basePath}/`);
      const route = isBelow ? routeClassOf(path.slice(basePath.length)) : 'other';
      answered(route, status, ms);
    },
    stored(kind: 'read' | 'write' | 'query', ms: number, isUnavailable: boolean): void {
      stores.observe(ms / 1000, kind);
      if (isUnavailable) storeFailures.add(kind);
    },
    /** Read at a scrape. @param read undefined: unknown */
    gauge(name: string, help: string, read: () => Promise<number | undefined>): void {
      registry.read({ name, type: 'gauge', help }, async () => {
        const value = await read();
        return value === undefined ? [] : [{ value }];
      });
    },
    text: registry.text,
  };
}

export type Metrics = ReturnType<typeof createMetrics>;
