// The resources whose rows the test goes over.
import { applications } from './applications.ts';
import { apis, groups } from './groups-and-apis.ts';
import type { Resource } from './resource.ts';
import { settings } from './settings.ts';
import { users } from './users.ts';
import type { World } from './world.ts';

/** Settings come last: what they are set to meanwhile holds for all. */
export const resourcesOf: Readonly<Record<string, (world: World) => Resource | Promise<Resource>>> = {
  applications,
  users,
  groups,
  APIs: apis,
  settings,
};
