// What stands between two boundaries of a template (a block element, a loop's end, …) as a tree: texts, expressions, inline
// elements and choices (`if`). What has no partner there becomes a boundary itself.
import type { Token } from './tokens.ts';

export type Node =
  | { readonly kind: 'text'; readonly raw: string }
  | { readonly kind: 'expression'; readonly raw: string }
  | {
      readonly kind: 'element';
      readonly open: Token;
      readonly close: Token;
      readonly children: readonly Node[];
    }
  /** Of each branch, its statement; of the last, what ends it. */
  | { readonly kind: 'choice'; readonly branches: readonly Branch[]; readonly end: Token }
  /** Inline, too, but as it stands: a loop, a code. */
  | { readonly kind: 'whole'; readonly tokens: readonly Token[] };

export interface Branch {
  readonly start: Token;
  readonly children: readonly Node[];
}

const INLINE: ReadonlySet<string> = new Set(['a', 'b', 'strong', 'em', 'i', 'abbr', 'q', 'time']);
/** Whose text belongs to users or machines. */
const AS_IT_IS: ReadonlySet<string> = new Set([
  'bdi',
  'code',
  'kbd',
  'pre',
  'samp',
  'textarea',
  'script',
  'style',
]);
const WHOLE_INLINE: ReadonlySet<string> = new Set(['bdi', 'code', 'kbd', 'samp']);

const nameIn = (token: Token): string => ('name' in token ? token.name : '');

/** Not translated: users' texts, codes, and what says so: `translate="no"`, or that it is English whatever the page is. */
export const isAsItIs = (token: Token): boolean =>
  token.kind === 'open' && (AS_IT_IS.has(token.name) || /\s(?:translate="no"|lang="en")/.test(token.raw));

const isInlineTag = (token: Token): boolean =>
  INLINE.has(nameIn(token)) ||
  WHOLE_INLINE.has(nameIn(token)) ||
  // Without a class it is part of a sentence; those for screen readers complete one.
  (nameIn(token) === 'span' && (token.kind === 'close' || /^<span(?: class="unseen")?>$/.test(token.raw)));

const IF: ReadonlySet<string> = new Set(['if', 'elif', 'else', 'endif', 'for', 'endfor']);

export const isInline = (token: Token): boolean =>
  token.kind === 'text' ||
  token.kind === 'expression' ||
  (token.kind === 'statement' && IF.has(token.name)) ||
  ((token.kind === 'open' || token.kind === 'close') && isInlineTag(token));

/** @returns of each token that opens something, the place of what closes it; `else` belongs to what it stands in */
function partnersOf(tokens: readonly Token[]): ReadonlyMap<number, number> {
  const partners = new Map<number, number>();
  const open: number[] = [];
  tokens.forEach((token, place) => {
    const isStart =
      token.kind === 'open' || (token.kind === 'statement' && ['if', 'for'].includes(token.name));
    if (isStart) open.push(place);
    const wanted =
      token.kind === 'close' ? token.name : token.kind === 'statement' ? token.name.replace(/^end/, '') : '';
    const isEnd = token.kind === 'close' || (token.kind === 'statement' && token.name.startsWith('end'));
    const last = tokens[open.at(-1) ?? -1];
    if (isEnd && last !== undefined && nameIn(last) === wanted) partners.set(open.pop() ?? -1, place);
  });
  return partners;
}

/** @returns places of tokens without a partner */
export function strays(tokens: readonly Token[]): ReadonlySet<number> {
  const partners = partnersOf(tokens);
  const paired = new Set([...partners.keys(), ...partners.values()]);
  const lost = new Set<number>();
  const inside: number[] = [];
  tokens.forEach((token, place) => {
    if (partners.has(place)) inside.push(place);
    const last = inside.at(-1);
    if (last !== undefined && partners.get(last) === place) inside.pop();
    if (token.kind === 'open' || token.kind === 'close') {
      if (!paired.has(place)) lost.add(place);
    } else if (token.kind === 'statement') {
      const isBranch = token.name === 'else' || token.name === 'elif';
      const around = tokens[inside.at(-1) ?? -1];
      if (isBranch ? around?.kind !== 'statement' : !paired.has(place)) lost.add(place);
    }
  });
  return lost;
}

/** @param tokens all of them inline and paired */
export function nodesOf(tokens: readonly Token[]): Node[] {
  const partners = partnersOf(tokens);
  const nodes: Node[] = [];
  for (let place = 0; place < tokens.length; place += 1) {
    const token = tokens[place];
    if (token === undefined) break;
    const end = partners.get(place);
    const close = end === undefined ? undefined : tokens[end];
    if (end === undefined || close === undefined) {
      if (token.kind === 'text' || token.kind === 'expression')
        nodes.push({ kind: token.kind, raw: token.raw });
      continue;
    }
    const inner = tokens.slice(place + 1, end);
    if (isAsItIs(token) || (token.kind === 'statement' && token.name === 'for'))
      nodes.push({ kind: 'whole', tokens: [token, ...inner, close] });
    else if (token.kind === 'open')
      nodes.push({ kind: 'element', open: token, close, children: nodesOf(inner) });
    else nodes.push({ kind: 'choice', branches: branchesOf(token, inner), end: close });
    place = end;
  }
  return nodes;
}

function branchesOf(first: Token, inner: readonly Token[]): Branch[] {
  const partners = partnersOf(inner);
  const branches: Branch[] = [];
  let start = first;
  let from = 0;
  const close = (to: number): void => {
    branches.push({ start, children: nodesOf(inner.slice(from, to)) });
  };
  for (let place = 0; place < inner.length; place += 1) {
    const token = inner[place];
    if (token?.kind === 'statement' && (token.name === 'else' || token.name === 'elif')) {
      close(place);
      start = token;
      from = place + 1;
    }
    place = partners.get(place) ?? place;
  }
  close(inner.length);
  return branches;
}
