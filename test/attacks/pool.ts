// Runs many tasks, a few at a time.

/** Runs `act` over all items, at most `width` at once; rejects with the first failure. */
export async function pooled<T, R>(
  items: readonly T[],
  width: number,
  act: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < items.length) {
      const index = next;
      next += 1;
      const item = items[index];
      if (item !== undefined) results[index] = await act(item, index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, work));
  return results;
}
