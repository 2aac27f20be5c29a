import type { SettingValues } from '../model/settings/settings.ts';

export type AuthMode = SettingValues['auth_mode'];

/** Where only passkeys sign in, no password can be used, set or forgotten. */
export const arePasswordsOff = ({ auth_mode: mode }: Pick<SettingValues, 'auth_mode'>): boolean =>
  mode === 'passkey_only';
