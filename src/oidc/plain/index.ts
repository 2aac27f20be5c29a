// Plain answers: start with plain-answers.ts.
import type { Config } from '../../config/types.ts';
import type { ProtocolDoors } from '../doors.ts';
import { createAliasOf } from '../foreign-layout/aliases.ts';
import { introspectPlainly } from './introspection.ts';
import { createPlainAnswers, type PlainAnswers } from './plain-answers.ts';
import { tokenPlainly } from './token.ts';
import { userinfoPlainly } from './userinfo.ts';

export type { PlainAnswers } from './plain-answers.ts';

/** @returns what answers plain successes before all else; undefined when it is switched off */
export function createPlain(
  doors: ProtocolDoors,
  { hasPlainAnswers, trustProxy }: Pick<Config, 'hasPlainAnswers' | 'trustProxy'>,
): PlainAnswers | undefined {
  if (!hasPlainAnswers) return undefined;
  const { settingsInStore, settings } = doors;
  return createPlainAnswers({
    config: { ...doors, trustProxy },
    // For the legacy profile: its provider may not be built yet.
    mount: doors.mount,
    resolveAlias: createAliasOf({ ...doors, realmAliases: () => settings().realm_aliases }),
    refreshSettings: () => settingsInStore.refresh(),
    handlers: {
      'POST /oauth2/introspect': introspectPlainly(doors),
      'POST /oauth2/token': tokenPlainly(doors),
      'GET /oauth2/userinfo': userinfoPlainly({ accounts: doors.directory, tokens: doors.sharedTokens }),
    },
  });
}
