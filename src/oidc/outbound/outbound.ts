// What this process may call for applications, from its configuration.
import { createIsOwnAddress } from '../../clients/index.ts';
import { portsOf } from '../../config/database-address.ts';
import { type OutboundEntry, outboundAllow as readEntries } from '../../config/outbound-allow.ts';
import type { Config } from '../../config/types.ts';
import type { Store } from '../../store/port.ts';
import { createOutboundFetch, createWhyUnreachable, type OutboundFetch } from './outbound-fetch.ts';
import { createOutboundRules, type OutboundRequest, type OutboundUse } from './outbound-rules.ts';

interface Unreachable {
  /** A sentence. */
  readonly problem: string;
  /** Sentences for an administrator; absent where nothing would open it. */
  readonly remedy?: string;
}

export interface Outbound {
  readonly fetch: OutboundFetch;
  /** @returns why the address could not be called now, and what would open it; undefined: it could */
  whyUnreachable(uri: string, what: OutboundRequest): Promise<Unreachable | undefined>;
  /** Whether an administrator may register this plain http address. */
  mayBePlain(uri: string, use: OutboundUse): boolean;
}

interface Deps extends Pick<Config, 'outboundAllow' | 'baseUrl' | 'port' | 'mongodbUri' | 'redisUrl'> {
  readonly store: Pick<Store, 'ports'>;
}

const sentence = (problem: string): string => `${problem.charAt(0).toUpperCase()}${problem.slice(1)}.`;

/** @returns the entry of OUTBOUND_ALLOW that would cover the address and nothing else */
function entryFor(
  uri: string,
): { readonly text: string; readonly entries: readonly OutboundEntry[] } | undefined {
  const { hostname = '', port = '', protocol } = URL.parse(uri) ?? {};
  const text = `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`;
  try {
    return { text: text.replace(/:443$/, ''), entries: readEntries(text) };
  } catch {
    return undefined;
  }
}

export function createOutbound({ outboundAllow, baseUrl, port, store, ...stores }: Deps): Outbound {
  const addresses = [stores.mongodbUri, stores.redisUrl].filter((uri) => uri !== undefined);
  const named = new Set(addresses.flatMap(portsOf));
  // A failover or a grown cluster brings others while we run.
  const storePorts = { has: (one: number) => named.has(one) || (store.ports?.() ?? []).includes(one) };
  const rulesFor = (allow: readonly OutboundEntry[]) =>
    createOutboundRules({
      allow,
      isOwnAddress: createIsOwnAddress(baseUrl),
      listenerPort: port,
      storePorts,
    });
  const rules = rulesFor(outboundAllow);
  const why = createWhyUnreachable({ rules });

  /** @returns what would open an address that the rules refuse, by trying the rules as they would be then */
  async function remedyFor(uri: string, what: OutboundRequest): Promise<string | undefined> {
    const approved = { ...what, isApproved: true };
    const entry = entryFor(uri);
    const [asApproved, asCovered] = await Promise.all([
      why(uri, approved),
      entry && createWhyUnreachable({ rules: rulesFor([...outboundAllow, ...entry.entries]) })(uri, approved),
    ]);
    if (asApproved === undefined) return 'Approve this address.';
    if (entry === undefined || asCovered !== undefined) return undefined;
    return what.isApproved
      ? `Add ${entry.text} to OUTBOUND_ALLOW and restart this server.`
      : `Add ${entry.text} to OUTBOUND_ALLOW and restart this server. Then approve this address.`;
  }

  return {
    fetch: createOutboundFetch({ rules }),
    async whyUnreachable(uri, what) {
      const problem = await why(uri, what);
      if (problem === undefined) return undefined;
      const remedy = await remedyFor(uri, what);
      return { problem: sentence(problem), ...(remedy !== undefined && { remedy }) };
    },
    mayBePlain(uri, use) {
      const url = URL.parse(uri);
      return url !== null && rules.problemOf(url, { use, isApproved: true }) === undefined;
    },
  };
}
