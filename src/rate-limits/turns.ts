// Who waits, and whose turn is next: a network of any width has one turn among its neighbours, however many of its addresses
// wait, so that a flood from many addresses of one network takes no more turns than one person elsewhere.

/** From the widest network to the narrowest, and then whatever shares that one. */
export type TurnPath = readonly string[];

export interface Turns<T> {
  size(): number;
  add(path: TurnPath, item: T): void;
  /** The next one in turn, which then waits no longer. */
  take(): T | undefined;
  remove(path: TurnPath, item: T): void;
  /**
   * The newest of the longest line: of the widest networks the one with most waiting, in it the next narrower one, and so on.
   * @param path of a newcomer; undefined is returned where the newcomer itself is that one
   */
  newestOfLongest(path?: TurnPath): { readonly path: TurnPath; readonly item: T } | undefined;
}

interface Node<T> {
  /** In the order of their turns; none is empty. */
  readonly children: Map<string, Node<T>>;
  readonly items: T[];
  size: number;
}

const newNode = <T>(): Node<T> => ({ children: new Map(), items: [], size: 0 });

export function createTurns<T>(): Turns<T> {
  const root = newNode<T>();

  /** The nodes from the root to the end of the path, as far as they are there. */
  function nodesOf(path: TurnPath): Node<T>[] {
    const nodes = [root];
    for (const part of path) {
      const next = nodes.at(-1)?.children.get(part);
      if (next === undefined) break;
      nodes.push(next);
    }
    return nodes;
  }

  function takeFrom(node: Node<T>): T | undefined {
    node.size -= 1;
    const [next] = node.children;
    if (next === undefined) return node.items.shift();
    const [name, child] = next;
    const taken = takeFrom(child);
    // Its turn is over: behind all others.
    node.children.delete(name);
    if (child.size > 0) node.children.set(name, child);
    return taken;
  }

  return {
    size: () => root.size,
    take: () => (root.size === 0 ? undefined : takeFrom(root)),

    add(path, item) {
      let node = root;
      node.size += 1;
      for (const part of path) {
        const child = node.children.get(part) ?? newNode<T>();
        node.children.set(part, child);
        child.size += 1;
        node = child;
      }
      node.items.push(item);
    },

    remove(path, item) {
      const nodes = nodesOf(path);
      const items = nodes.length > path.length ? nodes.at(-1)?.items : undefined;
      const at = items?.indexOf(item) ?? -1;
      if (at < 0) return;
      items?.splice(at, 1);
      for (const [depth, node] of nodes.entries()) {
        node.size -= 1;
        const name = path[depth - 1];
        if (node.size === 0 && name !== undefined) nodes[depth - 1]?.children.delete(name);
      }
    },

    newestOfLongest(newcomer) {
      let node: Node<T> = root;
      let isOwn = newcomer !== undefined;
      const path: string[] = [];
      while (node.children.size > 0) {
        const own = isOwn ? newcomer?.[path.length] : undefined;
        // The line that the newcomer would make the longest is its own; and it takes nobody's only place.
        let longest =
          own === undefined ? undefined : { name: own, size: Math.max(1, node.children.get(own)?.size ?? 0) };
        for (const [name, { size }] of node.children)
          if (size > (longest?.size ?? 0)) longest = { name, size };
        const next = longest && node.children.get(longest.name);
        if (longest === undefined || next === undefined) return undefined;
        isOwn &&= longest.name === own;
        path.push(longest.name);
        node = next;
      }
      const item = isOwn ? undefined : node.items.at(-1);
      return item === undefined ? undefined : { path, item };
    },
  };
}
