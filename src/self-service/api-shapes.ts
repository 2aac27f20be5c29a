// Parts of the JSON of the self-service API.
import type { OwnPasskey } from '../passkeys/index.ts';

export const iso = (at: number | undefined): string | null =>
  at === undefined ? null : new Date(at).toISOString();
export const list = (items: readonly unknown[]): object => ({ items, total: items.length });

export const showPasskey = (one: OwnPasskey): object => ({
  id: one.id,
  label: one.label,
  kind: one.kind,
  is_synced: one.isSynced,
  created_at: iso(one.createdAt),
  last_used_at: iso(one.lastUsedAt),
  can_remove: one.canRemove,
});

export const deviceOf = ({
  browser,
  system,
}: {
  browser?: string | undefined;
  system?: string | undefined;
}) => [browser, system].filter(Boolean).join(' on ') || 'Unknown';
