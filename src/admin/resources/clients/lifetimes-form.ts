// How long an application's tokens are valid, on its page: a number and its unit each.
import { authenticationSettings, lifetimeSettings } from '../../../clients/index.ts';
import { boundsOf, durationFrom } from '../../pages/durations.ts';
import type { Values } from '../../pages/page.ts';

const labels = {
  access_token_seconds: 'Access tokens expire after',
  id_token_seconds: 'ID tokens expire after',
  refresh_token_seconds: 'Unused refresh tokens expire after',
} as const satisfies Record<keyof typeof lifetimeSettings, string>;

/** From and to how many seconds, for every duration of the form. */
export const bounds = boundsOf({ ...lifetimeSettings, max_auth_age: authenticationSettings.max_auth_age });

/** The fields in their order. */
export const lifetimeFields = Object.entries(labels).map(([name, label]) => ({ name, label }));

/** The values of the form. */
export const lifetimeValues = (client: Values): Values =>
  Object.fromEntries(lifetimeFields.map(({ name }) => [name, client[name] ?? '']));

/** Converts the form's values to the API's. */
export const lifetimeBody = (textIn: (name: string) => string | undefined): Values =>
  Object.fromEntries(lifetimeFields.map(({ name }) => [name, durationFrom(textIn, name)]));
