// Maps names of a realm's groups and roles to unique, lower-case group names.

const MAX_LENGTH = 64;

const plain = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '') || 'group';

export interface GroupNames {
  /** @param key identifies it in the realm, as `group /Staff/Board` or `role editor`; @returns always the same name for a key */
  nameOf(key: string, parts: readonly string[], displayName: string): string;
  /** All names so far, in the order of their first use. */
  all(): { name: string; display_name: string }[];
}

export function createGroupNames(): GroupNames {
  const byKey = new Map<string, string>();
  const groups = new Map<string, string>();
  return {
    nameOf(key, parts, displayName) {
      const known = byKey.get(key);
      if (known !== undefined) return known;
      const wanted = parts.map(plain).join('.').slice(0, MAX_LENGTH);
      let name = wanted;
      for (let count = 2; groups.has(name); count += 1) {
        const end = `-${count}`;
        name = wanted.slice(0, MAX_LENGTH - end.length) + end;
      }
      byKey.set(key, name);
      groups.set(name, displayName.slice(0, 200));
      return name;
    },
    all: () => Array.from(groups, ([name, displayName]) => ({ name, display_name: displayName })),
  };
}
