// The pages of self-service by the `state` of a sign-in: the browser is never sent back to anything else.
export const accountPages = {
  home: '/account',
  applications: '/account/applications',
  profile: '/account/profile',
  picture: '/account/picture',
  email: '/account/email',
  'email-confirm': '/account/email/confirm',
  password: '/account/password',
  passkeys: '/account/passkeys',
  'not-me': '/account/not-me',
  data: '/account/data',
  delete: '/account/delete',
  'second-factor': '/account/second-factor',
} as const;

export type AccountPage = keyof typeof accountPages;

/** @param state of the address that the sign-in came back to */
export const pathOf = (state: unknown): string =>
  Object.entries(accountPages).find(([page]) => page === state)?.[1] ?? accountPages.home;
