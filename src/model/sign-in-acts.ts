/** What changes how somebody signs in. */
export const SIGN_IN_ACTS = {
  own_factors:
    'adds, replaces or removes passkeys, authenticator app, recovery codes and codes by mail of its own account',
  own_password: 'sets the password of its own account',
  own_addresses: 'adds, removes or makes primary the addresses of its own account',
  others: 'creates users, changes their addresses, passwords, roles and factors, and has links sent to them',
  applications: 'registers and changes any application, and so where codes go',
  new_application: 'registers one application',
  one_application: 'changes the one application that it was issued for',
  settings: 'changes how everybody signs in',
  new_account: 'creates one account',
  first_password: 'sets up the password or passkey of the one account that it was sent for',
  counts_address: 'makes one address count, which then signs in and resets',
  stops_address: 'takes one address back and signs its account out everywhere',
  signs_in: 'is one step of a sign-in, and changes nothing by itself',
} as const;

export type SignInAct = keyof typeof SIGN_IN_ACTS;
