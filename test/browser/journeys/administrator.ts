// The administrators of the journeys: one for each, signed in by the page.
import { signIn } from './sign-in.ts';
import type { Walk } from './walk.ts';

export const administrator = ({ world, name }: Walk) => world.createPerson(name, { role: 'admin' });

/** From a page of /admin that asked who this is. */
export async function signInAsAdmin(
  walk: Walk,
  admin: { username: string; password: string },
): Promise<void> {
  await walk.arrive(walk.t('login.title_client', { client: 'Latchkey' }));
  await signIn(walk, admin);
}

export async function openAdmin(walk: Walk, path: string): Promise<void> {
  const admin = await administrator(walk);
  await walk.open(`${walk.world.server.origin}/admin${path}`);
  await signInAsAdmin(walk, admin);
}
