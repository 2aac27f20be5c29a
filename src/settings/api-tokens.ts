import { integer } from './definitions.ts';

const DAY = 86_400;

export const apiTokenDefinitions = {
  api_jwt_seconds: integer({
    group: 'Tokens',
    default: 300,
    min: 30,
    max: DAY,
    description:
      'How long an access token for an API is valid that is a JWT, in seconds: an API that checks it without introspection ' +
      'accepts it for so long even after a revocation. An API can have its own value.',
  }),
  api_opaque_seconds: integer({
    group: 'Tokens',
    default: 900,
    min: 30,
    max: DAY,
    description:
      'How long an opaque access token for an API is valid, in seconds. An API can have its own value.',
  }),
};
