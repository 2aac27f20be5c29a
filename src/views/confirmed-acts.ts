// What a person is asked to confirm who they are for, each a sentence of the strings (`confirm.…`). Those of one person,
// application or API name it.
const CONFIRMED_ACTS = [
  'user_delete',
  'user_deactivate',
  'user_role',
  'user_password',
  'user_reset',
  'user_change',
  'users_import',
  'users',
  'client_delete',
  'client_secret',
  'client_change',
  'clients',
  'api_delete',
  'api_change',
  'apis',
  'groups',
  'api_keys',
  'keys',
  'settings',
  'admin',
  'account_home',
  'account_profile',
  'account_email',
  'account_password',
  'account_passkeys',
  'account_second_factor',
  'account_data',
  'account_delete',
] as const;

export type ConfirmedAct = (typeof CONFIRMED_ACTS)[number];

export const isConfirmedAct = (act: string): act is ConfirmedAct => CONFIRMED_ACTS.some((one) => one === act);
