import { flag } from './definitions.ts';

export const legacyDefinitions = {
  legacy_profiles: flag({
    group: 'Legacy',
    default: false,
    description:
      'Whether applications with the profile `legacy` may use what newer standards advise against, because an old library knows ' +
      'nothing else: implicit and hybrid response types, signed request objects, `request_uri` by reference, session management ' +
      'and front-channel logout. See docs/legacy.md. Turned off, such applications have the code flow alone.',
  }),
};
