// Two applications that differ in one thing: whether plain answers are on (src/oidc/plain/). They share a store and an issuer, so
// a token of one is a token of the other, and each says what a request made it do.
import { deepEqual, ok } from 'node:assert/strict';
import { Agent as Connections, request as send } from 'node:http';
import { mock } from 'node:test';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import Koa from 'koa';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import type { Collection, CollectionDefinition, EphemeralCollection, Store } from '../../src/store/port.ts';
import { startApp, type TestApp } from './app.ts';

/** Mulberry32: the same corpus each time. */
export function createRandom(seed: number) {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    chance: (probability: number): boolean => next() < probability,
    pick<T>(items: readonly T[]): T {
      const item = items[Math.floor(next() * items.length)];
      if (item === undefined) throw new TypeError('nothing to pick from');
      return item;
    },
  };
}
export type Random = ReturnType<typeof createRandom>;

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Without Content-Length. */
  readonly isChunked?: boolean;
}

export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

const WRITES = new Set(['insert', 'put', 'replace', 'remove', 'removeBy']);

function watched<T extends object>(name: string, collection: T, writes: [string, unknown][]): T {
  return new Proxy(collection, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== 'function' || !WRITES.has(String(property))) return value;
      return (...given: unknown[]) => {
        writes.push([`${name}.${String(property)}`, structuredClone(given)]);
        return Reflect.apply(value, target, given);
      };
    },
  });
}

/** The same store, whose writes are noted. */
const watchedStore = (store: Store, writes: [string, unknown][]): Store => ({
  collection: <T>(definition: CollectionDefinition<T>): Collection<T> =>
    watched(definition.name, store.collection(definition), writes),
  ephemeral: <T>(definition: CollectionDefinition<T>): EphemeralCollection<T> =>
    watched(definition.name, store.ephemeral(definition), writes),
  // Noted like writes of their own, so that both ways can be compared.
  writeTogether: (fill) =>
    store.writeTogether((together) =>
      fill({ to: (definition) => watched(definition.name, together.to(definition), writes) }),
    ),
  sweep: (limit) => store.sweep(limit),
  stamp: () => store.stamp(),
  ping: () => store.ping(),
  close: () => store.close(),
});

interface Twin {
  readonly app: TestApp;
  readonly writes: [string, unknown][];
}

export interface Twins {
  /** With plain answers, and without. */
  readonly on: TestApp;
  readonly off: TestApp;
  /** Sends it to both. @throws AssertionError when they differ in anything that is theirs to decide */
  compare(sent: Sent, label: string): Promise<Received & { readonly isPlain: boolean }>;
  /**
   * The same for answers with new tokens: each application is asked for its own, and what is random in them, or derived from
   * what is, has a number in its place, the same for the same value.
   */
  compareIssued(sent: Sent, label: string): Promise<Received & { readonly isPlain: boolean }>;
  stop(): Promise<void>;
}

const connections = new Connections({ keepAlive: true, maxSockets: 4 });

const receive = (url: string, { method, path, headers, body, isChunked }: Sent): Promise<Received> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const length = body === undefined || isChunked ? {} : { 'Content-Length': Buffer.byteLength(body) };
    const request = send(
      { hostname, port, method, path, headers: { ...headers, ...length }, agent: connections },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    // Refused by the server itself, before any application.
    request.on('error', (error) =>
      resolve({ status: 0, headers: {}, text: String(Reflect.get(error, 'code')) }),
    );
    request.end(body);
  });

/** Differs from request to request; whether it is there does not. */
const OWN = new Set(['date', 'x-request-id', 'dpop-nonce', 'set-cookie']);

const headersOf = ({ headers }: Received): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]) => [name, OWN.has(name) ? typeof value : value] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

const change = (value: unknown, edit: (json: string) => string): unknown =>
  JSON.parse(edit(JSON.stringify(value ?? null)));

const JWT = /eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+/g;

/** What it says, in the place of it; without quotes and escapes, because it may be a text in a text. */
const saidBy = (jwt: string): string =>
  JSON.stringify([decodeProtectedHeader(jwt), decodeJwt(jwt)]).replaceAll(/["\\]/g, "'");

/** A signed answer (userinfo) of two applications that answered in two seconds. */
const SIGNED = /"text":"(eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+)"/;
const withoutSeconds = (said: string): string => said.replaceAll(/'(?:iat|exp)':\d+/g, "'time':0");

/** The id, times and address of a request are each application's own. */
const comparable = (value: unknown): unknown =>
  change(value, (json) =>
    json
      .replace(/127\.0\.0\.1:\d+/g, 'host')
      .replace(/(\\?")(request_id|requestId)\1:\1[^"\\]*\1/g, '$1$2$1:$1id$1')
      .replace(/"(?:time|at|createdAt)":(?:\d+|"[^"]*")|"ms":[\d.]+/g, '"time":0')
      .replace(SIGNED, (_, jwt: string) => `"text":"${withoutSeconds(saidBy(jwt))}"`),
  );

/** So is the id of a new document. */
const withoutIds = (value: unknown): unknown =>
  change(comparable(value), (json) => json.replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, 'id'));

const withoutSecrets = (value: unknown): unknown => {
  const numbers = new Map<string, number>();
  const numberOf = (random: string): string => {
    const number = numbers.get(random) ?? numbers.size;
    numbers.set(random, number);
    return `random ${number}`;
  };
  return change(withoutIds(value), (json) =>
    json
      .replace(JWT, saidBy)
      .replace(/'at_hash':'[^']+'/g, "'at_hash'")
      .replace(/(?<=lk[ac]_[\w-]{43}\.)[\w-]{43}/g, 'mac')
      .replace(/(?<=lk[ac]_|[^\w-])[\w-]{43}(?![\w-])/g, numberOf)
      // A signature in its place is as long, whatever it says.
      .replace(/"content-length":"\d+"/g, '"content-length":"0"'),
  );
};

const linesOf = ({ app }: Twin): unknown[] => app.logged.splice(0).map((line) => JSON.parse(line));

/** Written by a timer, for many requests together. */
const isTimed = ([name]: readonly [string, unknown]): boolean =>
  /^(?:token_events|client_refusals)\./.test(name);

/** Both count in the same counters, so whoever comes second finds one: which of them were charged is what counts. */
function effectOf(writes: readonly (readonly [string, unknown])[]): unknown[] {
  const charged = writes.flatMap(([name, given]) =>
    name.startsWith('rates.') && Array.isArray(given) ? [String(given[0])] : [],
  );
  // The id of a new access token is random: to put it is to insert it.
  const others = writes
    .filter((write) => !isTimed(write) && !write[0].startsWith('rates.'))
    .map(([name, given]) => [name.replace(/^(access_tokens)\.put$/, '$1.insert'), given]);
  return [...new Set(charged), ...others];
}

const hasLine = ({ app }: Twin): boolean => app.logged.some((line) => line.includes('"msg":"request"'));

/** The line is written when the connection has taken the answer, or given up on the rest of the request. */
async function logged(twin: Twin): Promise<void> {
  for (let turn = 0; turn < 50 && !hasLine(twin); turn += 1)
    await new Promise((resolve) => setImmediate(resolve));
  for (let turn = 0; turn < 3000 && !hasLine(twin); turn += 1)
    await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Reading the metrics costs as much as the request itself. */
const COUNTED_EVERY = 5;
type Counters = ReadonlyMap<string, number>;

/** What the metrics count: requests, tokens, refusals. Times differ, and what this process loaded. */
async function countersOf({ app }: Twin): Promise<Counters> {
  const text = await (await fetch(`${app.url}/metrics`)).text();
  const lines = text.matchAll(/^(latchkey_\w+_total(?:\{.*\})?) (\d+)$/gm);
  return new Map([...lines].map(([, name = '', count]) => [name, Number(count)]));
}

const risesOf = (before: Counters, after: Counters): [string, number][] =>
  [...after]
    .map(([name, count]): [string, number] => [name, count - (before.get(name) ?? 0)])
    .filter(([, rise]) => rise > 0);

export async function startTwins(env: Record<string, string> = {}): Promise<Twins> {
  const store = createMemoryStore({ clock: Date.now });
  const common = { ISSUER: 'https://id.example.com/oauth2', ...env };
  const start = async (more: Record<string, string>): Promise<Twin> => {
    const writes: [string, unknown][] = [];
    const app = await startApp({ shared: watchedStore(store, writes), env: { ...common, ...more } });
    return { app, writes };
  };
  const on = await start({ PLAIN_ANSWERS: 'on' });
  const off = await start({ PLAIN_ANSWERS: 'off' });
  // Koa sees every request that no plain answer ends.
  let seenByKoa = 0;
  let asked = 0;
  const original: (...given: unknown[]) => unknown = Reflect.get(Koa.prototype, 'handleRequest');
  const handleRequest = mock.fn(function (this: unknown, ...given: unknown[]) {
    seenByKoa += 1;
    return Reflect.apply(original, this, given);
  });
  Reflect.set(Koa.prototype, 'handleRequest', handleRequest);

  const effectsOf = async (twin: Twin): Promise<object> => {
    await logged(twin);
    const writes = twin.writes.splice(0);
    return { lines: linesOf(twin), writes: withoutIds(effectOf(writes)) };
  };

  const ask = async (twin: Twin, sent: Sent) => {
    const before = asked % COUNTED_EVERY === 0 ? await countersOf(twin) : undefined;
    seenByKoa = 0;
    const received = await receive(twin.app.url, sent);
    const isPlain = seenByKoa === 0;
    const effects = await effectsOf(twin);
    const counted = before && risesOf(before, await countersOf(twin));
    // Each request counts.
    ok(counted === undefined || counted.length > 0);
    const seen = { ...received, headers: headersOf(received), ...effects, ...(counted && { counted }) };
    return { received, seen, isPlain };
  };

  const askBoth = async (sent: Sent) => {
    for (const { app, writes } of [on, off]) {
      app.logged.length = 0;
      writes.splice(0);
    }
    asked += 1;
    const first = await ask(on, sent);
    const second = await ask(off, sent);
    return { first, second, isPlain: first.isPlain };
  };

  return {
    on: on.app,
    off: off.app,

    async compare(sent, label) {
      const { first, second, isPlain } = await askBoth(sent);
      deepEqual(comparable(first.seen), comparable(second.seen), label);
      return { ...first.received, isPlain };
    },

    async compareIssued(sent, label) {
      const { first, second, isPlain } = await askBoth(sent);
      deepEqual(withoutSecrets(first.seen), withoutSecrets(second.seen), label);
      return { ...first.received, isPlain };
    },

    async stop() {
      Reflect.set(Koa.prototype, 'handleRequest', original);
      connections.destroy();
      await on.app.stop();
      await off.app.stop();
      await store.close();
    },
  };
}
