// What a page of the Admin UI is for, in the words of the sign-in page (src/views/confirmed-acts.ts): by its path, the first that
// begins it.
import type { Purpose } from '../../oidc/index.ts';
import type { ConfirmedAct } from '../../views/index.ts';
import type { Page } from '../pages/page.ts';

const ACTS: readonly (readonly [path: string, act: ConfirmedAct])[] = [
  ['/users/:id/delete', 'user_delete'],
  ['/users/:id/deactivate', 'user_deactivate'],
  ['/users/:id/role', 'user_role'],
  ['/users/:id/password', 'user_password'],
  ['/users/:id/reset-mfa', 'user_reset'],
  ['/users/:id', 'user_change'],
  ['/users/import', 'users_import'],
  ['/users', 'users'],
  ['/invitations', 'users'],
  ['/applications/:id/delete', 'client_delete'],
  ['/applications/:id/rotate-secret', 'client_secret'],
  ['/applications/:id', 'client_change'],
  ['/applications', 'clients'],
  ['/apis/:id/delete', 'api_delete'],
  ['/apis/:id', 'api_change'],
  ['/apis', 'apis'],
  ['/groups', 'groups'],
  ['/api-keys', 'api_keys'],
  ['/keys', 'keys'],
  ['/settings', 'settings'],
];

/** @param path of the request, which begins with /admin and has the page's parameters */
export function purposeOfPage(page: Pick<Page, 'path'>, path: string): Purpose {
  const known = ACTS.find(([one]) => page.path === one || page.path.startsWith(`${one}/`));
  if (known === undefined) return { act: 'admin' };
  const [pattern, act] = known;
  const at = pattern.split('/').indexOf(':id');
  const id = at === -1 ? undefined : path.split('/')[at + 1];
  return { act, target: id === undefined ? undefined : decodeURIComponent(id) };
}
