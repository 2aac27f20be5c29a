// What an API demands of tokens for it: as of an application, under the same names in its record.
import { settingRows } from './applications/settings.ts';

export const demandRows = {
  access_token_seconds: {
    ...settingRows.access_token_seconds,
    example: null,
    description: 'Lifetime of its access tokens; null: the setting for the format applies.',
  },
  required_acr: {
    ...settingRows.required_acr,
    example: null,
    description:
      'The minimum `acr` of a sign-in that gives a token for it; null: any. See the application’s.',
  },
  max_auth_age: {
    ...settingRows.max_auth_age,
    example: null,
    description:
      'How old the sign-in may be when an application requests access to it, in seconds; null: any. See the application’s.',
  },
} as const;
