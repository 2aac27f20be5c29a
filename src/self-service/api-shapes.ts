// Parts of the JSON of the self-service API.

export const iso = (at: number | undefined): string | null =>
  at === undefined ? null : new Date(at).toISOString();
export const list = (items: readonly unknown[]): object => ({ items, total: items.length });

export const deviceOf = ({
  browser,
  system,
}: {
  browser?: string | undefined;
  system?: string | undefined;
}) => [browser, system].filter(Boolean).join(' on ') || 'Unknown';
