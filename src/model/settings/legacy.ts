import { flag } from '../kinds.ts';
import { setting } from './setting.ts';

export const legacySettings = {
  legacy_profiles: setting(flag, {
    group: 'Legacy',
    label: 'Applications may have the profile “legacy”',
    description:
      'Whether applications with the profile `legacy` may use what newer standards advise against, because an old library knows ' +
      'nothing else: implicit and hybrid response types, signed request objects, `request_uri` by reference, session management ' +
      'and front-channel logout. See docs/legacy.md. Turned off, such applications have the code flow alone.',
    absent: false,
    mayShutOut: false,
  }),
};
