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

const isPage = (name: string): name is AccountPage => Object.hasOwn(accountPages, name);

/** The page that a form at this address is on: its own, or the nearest above it. */
export function pageAt(path: string): AccountPage {
  const above = Object.entries(accountPages)
    .filter(([, address]) => path === address || path.startsWith(`${address}/`))
    .sort(([, one], [, other]) => other.length - one.length);
  const [[name = ''] = []] = above;
  return isPage(name) ? name : 'home';
}

/** @param state of the address that the sign-in came back to */
export const pathOf = (state: unknown): string =>
  Object.entries(accountPages).find(([page]) => page === state)?.[1] ?? accountPages.home;
