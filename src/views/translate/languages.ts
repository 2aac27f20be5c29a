// Which templates are translated, and with which functions.

/** Icons have no words; lines for API frameworks are code. */
const NOT: ReadonlySet<string> = new Set([
  'admin/icon.njk',
  'admin/resource-servers.njk',
  'partials/icon.njk',
  'partials/snippet.njk',
]);

/** @param name of a template. Those of the guides stay English (docs/decisions/0036-admin-languages.md). */
export const isTranslated = (name: string): boolean =>
  /^(?:layout\.njk$|admin\/|partials\/)/.test(name) && !NOT.has(name);
