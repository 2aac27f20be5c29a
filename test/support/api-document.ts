// The OpenAPI document of the admin API without a server: declarations use nothing of what their handlers need.
import { toOpenApi } from '../../src/admin/api/openapi.ts';
import type { AdminPorts } from '../../src/admin/api/ports.ts';
import type { Route } from '../../src/admin/api/route.ts';
import { adminRouteList } from '../../src/admin/routes.ts';

let routes: readonly Route[] | undefined;

/** @returns all routes; none of them can be run */
export function declaredRoutes(): readonly Route[] {
  // Only handlers look into the rest; whoever runs one here gets a TypeError.
  const inert = { baseUrl: '', version: '', stats: {} };
  routes ??= adminRouteList(inert as AdminPorts);
  return routes;
}

/** @returns the document as it goes over the wire */
export const apiDocument = (): unknown => {
  const about = {
    title: 'test',
    version: '0',
    publicUrl: 'http://localhost/admin/api',
    referenceUrl: 'http://localhost/',
  };
  return JSON.parse(JSON.stringify(toOpenApi(declaredRoutes(), about)));
};
