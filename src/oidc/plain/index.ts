// Plain answers: start with plain-answers.ts.
import type { Apis } from '../../apis/index.ts';
import type { Config } from '../../config/types.ts';
import type { Events } from '../../events/index.ts';
import type { Settings } from '../../settings/index.ts';
import type { AccountDirectory } from '../entitlements/find-account.ts';
import { createAliasOf } from '../foreign-layout/aliases.ts';
import type { ProtocolMount } from '../mount.ts';
import type { Bearers } from '../tokens/bearers.ts';
import type { TokenState } from '../tokens/token-state.ts';
import { introspectPlainly } from './introspection.ts';
import { createPlainAnswers, type PlainAnswers } from './plain-answers.ts';
import { tokenPlainly } from './token.ts';
import { userinfoPlainly } from './userinfo.ts';

export type { PlainAnswers } from './plain-answers.ts';

interface PlainDeps extends Pick<Parameters<typeof tokenPlainly>[0], 'limits' | 'isRegisteredOrigin'> {
  readonly mount: ProtocolMount;
  readonly state: { readonly sharedTokens: TokenState };
  readonly apis: Pick<Apis, 'authenticate'>;
  readonly bearers: Pick<Bearers, 'accessOfSecret'>;
  readonly accounts: Pick<AccountDirectory, 'claims'>;
  readonly settings: Pick<Settings, 'refresh' | 'current'>;
  readonly events: Pick<Events, 'origins'>;
  readonly config: Pick<Config, 'issuer' | 'baseUrl' | 'trustProxy' | 'hasPlainAnswers'> & {
    readonly basePath: string;
  };
}

/** @returns what answers plain successes before all else; undefined when it is switched off */
export function createPlain(deps: PlainDeps): PlainAnswers | undefined {
  const { config, mount, state, apis, bearers, accounts, settings, limits, isRegisteredOrigin } = deps;
  if (!config.hasPlainAnswers) return undefined;
  const { issuer } = config;
  const tokens = state.sharedTokens;
  const { origins } = deps.events;
  return createPlainAnswers({
    config,
    // For the legacy profile: its provider may not be built yet.
    mount,
    resolveAlias: createAliasOf({ ...config, realmAliases: () => settings.current().realm_aliases }),
    refreshSettings: () => settings.refresh(),
    handlers: {
      'POST /oauth2/introspect': introspectPlainly({ issuer, mount, apis, bearers, tokens }),
      'POST /oauth2/token': tokenPlainly({ mount, limits, origins, isRegisteredOrigin }),
      'GET /oauth2/userinfo': userinfoPlainly({ accounts, tokens }),
    },
  });
}
