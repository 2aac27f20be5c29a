// Sees whatever this process sends out of itself, whoever does it and by whichever module: the functions that reach out are
// replaced by ones that note the target, and Node's own account of handles (async_hooks) counts what went another way.
import { createHook } from 'node:async_hooks';
import dgram from 'node:dgram';
import dns from 'node:dns';
import http2 from 'node:http2';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import tls from 'node:tls';

export interface NetworkWatch {
  /** Since the start or the last call. `handles`: connections, look-ups and datagrams that Node created, by kind. */
  take(): { readonly calls: readonly string[]; readonly handles: ReadonlyMap<string, number> };
  stop(): void;
}

/** Kinds of handles that leave the process. A server's own are others (TCPWRAP, TCPSERVERWRAP, PIPEWRAP). */
const LEAVING =
  /^(?:TCPCONNECTWRAP|PIPECONNECTWRAP|GETADDRINFOREQWRAP|GETNAMEINFOREQWRAP|QUERYWRAP|UDPWRAP|UDPSENDWRAP)$/;

/** A socket's connect takes (options), (port, host), (path), or all of it in one list. */
function targetOf(args: readonly unknown[]): string {
  const flat = args.flat();
  const [first] = flat;
  if (typeof first === 'object' && first !== null) {
    const { path, host = 'localhost', port } = Object(first);
    return path === undefined ? `${host}:${port}` : String(path);
  }
  return typeof flat[1] === 'string' ? `${flat[1]}:${first}` : String(first);
}

type Named = Record<string, unknown>;

/** What leaves the process by its own name: where it is, its members, and what of the arguments is the target. */
const doors: readonly (readonly [string, Named, RegExp, (args: readonly unknown[]) => string])[] = [
  ['connect', Object(net.Socket.prototype), /^connect$/, targetOf],
  ['datagram', Object(dgram.Socket.prototype), /^(?:bind|connect|send)$/, () => ''],
  ['dns', Object(dns), /^(?:lookup|lookupService|reverse|resolve\w*)$/, ([host]) => String(host)],
  ['dns', Object(dns.promises), /^(?:lookup|lookupService|reverse|resolve\w*)$/, ([host]) => String(host)],
  ['dns', Object(dns.Resolver.prototype), /^(?:reverse|resolve\w*)$/, ([host]) => String(host)],
  ['dns', Object(dns.promises.Resolver.prototype), /^(?:reverse|resolve\w*)$/, ([host]) => String(host)],
  ['tls', Object(tls), /^connect$/, targetOf],
  ['http2', Object(http2), /^connect$/, ([authority]) => String(authority)],
  ['fetch', Object(globalThis), /^(?:fetch|WebSocket|EventSource)$/, ([target]) => String(target)],
];

export function watchNetwork(): NetworkWatch {
  const calls: string[] = [];
  const handles = new Map<string, number>();
  const undo: (() => void)[] = [];
  for (const [kind, holder, names, about] of doors) {
    // With those inherited from a common base (both resolvers have theirs from one).
    const all = new Set([
      ...Object.getOwnPropertyNames(holder),
      ...Object.getOwnPropertyNames(Object.getPrototypeOf(holder) ?? {}),
    ]);
    for (const name of [...all].filter((one) => names.test(one))) {
      const original = Object.getOwnPropertyDescriptor(holder, name);
      const run = holder[name];
      if (typeof run !== 'function') continue;
      const watched = function watched(this: unknown, ...args: unknown[]): unknown {
        calls.push(`${kind} ${about(args)}`.trim());
        return new.target ? Reflect.construct(run, args) : Reflect.apply(run, this, args);
      };
      Object.defineProperty(holder, name, { configurable: true, writable: true, value: watched });
      undo.push(() => {
        if (original === undefined) Reflect.deleteProperty(holder, name);
        else Object.defineProperty(holder, name, original);
      });
    }
  }
  syncBuiltinESMExports();
  const hook = createHook({
    init(_id, type) {
      if (LEAVING.test(type)) handles.set(type, (handles.get(type) ?? 0) + 1);
    },
  }).enable();
  return {
    take() {
      const seen = { calls: [...calls], handles: new Map(handles) };
      calls.length = 0;
      handles.clear();
      return seen;
    },
    stop() {
      hook.disable();
      for (const back of undo) back();
      syncBuiltinESMExports();
    },
  };
}
