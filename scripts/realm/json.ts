// Reads unvalidated JSON: every member may be missing or of another type.

export type Members = Readonly<Record<string, unknown>>;

export const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {};
export const listOf = (value: unknown): Members[] => (Array.isArray(value) ? value.map(membersOf) : []);
export const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

/** JSON inside a JSON string. */
export function parsedOf(value: unknown): Members {
  if (typeof value !== 'string') return membersOf(value);
  try {
    return membersOf(JSON.parse(value));
  } catch {
    return {};
  }
}
