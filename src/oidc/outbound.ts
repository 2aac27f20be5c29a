// What this process may call for applications, from its configuration.
import { createIsOwnAddress } from '../clients/index.ts';
import { portsOf } from '../config/database-address.ts';
import type { Config } from '../config/types.ts';
import {
  createOutboundFetch,
  createWhyUnreachable,
  type OutboundFetch,
  type WhyUnreachable,
} from './outbound-fetch.ts';
import { createOutboundRules, type OutboundUse } from './outbound-rules.ts';

export interface Outbound {
  readonly fetch: OutboundFetch;
  readonly whyUnreachable: WhyUnreachable;
  /** Whether an administrator may register this plain http address. */
  mayBePlain(uri: string, use: OutboundUse): boolean;
}

type OutboundConfig = Pick<Config, 'outboundAllow' | 'baseUrl' | 'port' | 'mongodbUri' | 'redisUrl'>;

export function createOutbound({ outboundAllow, baseUrl, port, ...stores }: OutboundConfig): Outbound {
  const addresses = [stores.mongodbUri, stores.redisUrl].filter((uri) => uri !== undefined);
  const rules = createOutboundRules({
    allow: outboundAllow,
    isOwnAddress: createIsOwnAddress(baseUrl),
    listenerPort: port,
    storePorts: new Set(addresses.flatMap(portsOf)),
  });
  return {
    fetch: createOutboundFetch({ rules }),
    whyUnreachable: createWhyUnreachable({ rules }),
    mayBePlain(uri, use) {
      const url = URL.parse(uri);
      return url !== null && rules.problemOf(url, { use, isApproved: true }) === undefined;
    },
  };
}
