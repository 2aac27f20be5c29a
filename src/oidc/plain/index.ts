// Plain answers: start with plain-answers.ts.
import type { Apis } from '../../apis/index.ts';
import type { Config } from '../../config/types.ts';
import type { AccountDirectory } from '../entitlements/find-account.ts';
import type { ProtocolMount } from '../mount.ts';
import type { TokenState } from '../tokens/token-state.ts';
import { introspectPlainly } from './introspection.ts';
import { createPlainAnswers, type PlainAnswers } from './plain-answers.ts';
import { userinfoPlainly } from './userinfo.ts';

export type { PlainAnswers } from './plain-answers.ts';

interface PlainDeps {
  readonly mount: ProtocolMount;
  readonly state: { readonly tokens: TokenState };
  readonly apis: Pick<Apis, 'authenticate'>;
  readonly accounts: Pick<AccountDirectory, 'claims'>;
  readonly settings: { refresh(): Promise<void> };
  readonly config: Pick<Config, 'issuer' | 'baseUrl' | 'trustProxy' | 'hasPlainAnswers'> & {
    readonly basePath: string;
  };
}

/** @returns what answers plain successes before all else; undefined when it is switched off */
export function createPlain({
  config,
  mount,
  state,
  apis,
  accounts,
  settings,
}: PlainDeps): PlainAnswers | undefined {
  if (!config.hasPlainAnswers) return undefined;
  const { issuer } = config;
  return createPlainAnswers({
    config,
    mount,
    refreshSettings: () => settings.refresh(),
    handlers: {
      'POST /oauth2/introspect': introspectPlainly({ issuer, mount, apis, ...state }),
      'GET /oauth2/userinfo': userinfoPlainly({ accounts, ...state }),
    },
  });
}
