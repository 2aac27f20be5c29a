// A sentence of a template as one message: `And {1} more.`, `<1>Add one</1> first.` Expressions and codes are `{n}`; elements
// and choices with words of their own are `<n>…</n>`, so that a language can order them as it needs.
import { bodyOf } from './expressions.ts';
import type { Node } from './nodes.ts';
import type { Token } from './tokens.ts';
import { bare, decode, type Forms, isWordy, keyOf, type Translation } from './words.ts';

interface Slot {
  /** Source before and after a part with words; of a plain one, all of it. */
  readonly start: string;
  readonly end: string;
  readonly isPlain: boolean;
  /** Of an expression: what is counted, if it is a number. */
  readonly counted?: string;
}

export interface Message {
  readonly key: string;
  readonly before: string;
  readonly after: string;
  readonly slots: ReadonlyMap<number, Slot>;
}

interface Write {
  readonly each: (node: Node) => string;
  readonly tag: (token: Token) => string;
  readonly statement: (token: Token) => string;
}

/** Macros that draw something which is no part of a sentence beside them. */
const DRAWN = /^\s*(?:icon|badge|press|go|act|drop|avatar|face|copyButton|super|caller)\(/;

const hasWords = (node: Node): boolean => {
  if (node.kind === 'text') return isWordy(decode(node.raw));
  if (node.kind === 'element') return node.children.some(hasWords);
  return node.kind === 'choice' && node.branches.some(({ children }) => children.some(hasWords));
};

const isAside = (node: Node | undefined): boolean =>
  node !== undefined &&
  ((node.kind === 'text' && node.raw.trim() === '') ||
    (node.kind === 'expression' && DRAWN.test(bodyOf(node.raw))) ||
    (node.kind === 'choice' &&
      !hasWords(node) &&
      node.branches.every(({ children }) => children.every(isAside))));

/** Without what stands around the sentence: icons, buttons, spaces. */
export function trimmed(nodes: readonly Node[]) {
  let from = 0;
  let to = nodes.length;
  while (from < to && isAside(nodes[from])) from += 1;
  while (to > from && isAside(nodes[to - 1])) to -= 1;
  return { before: nodes.slice(0, from), inner: nodes.slice(from, to), after: nodes.slice(to) };
}

const countedIn = (raw: string): string => {
  const body = bodyOf(raw).trim();
  return /^count\(([\w.[\]' |]+)\)$/.exec(body)?.[1] ?? (/^[\w.]+(?: \| length)?$/.test(body) ? body : '');
};

/** `if a`, `elif b`, `else` as conditions that stand alone, since a translation may move the branches apart. */
function conditionsOf(branches: readonly { readonly start: Token }[]): string[] {
  const earlier: string[] = [];
  return branches.map(({ start }) => {
    const own = bodyOf(start.raw)
      .trim()
      .replace(/^(?:if|elif|else)\s*/, '');
    const all = [...earlier.map((one) => `not (${one})`), ...(own === '' ? [] : [`(${own})`])];
    earlier.push(own);
    return all.join(' and ');
  });
}

/** All that it says, of each branch one after another. */
const wordsOf = (node: Node): string[] => {
  if (node.kind === 'text') return [keyOf(decode(node.raw))];
  if (node.kind === 'element') return [node.children.flatMap(wordsOf).join('')];
  if (node.kind === 'choice') return node.branches.map(({ children }) => children.flatMap(wordsOf).join(''));
  return ['•'];
};

const isFull = (text: string): boolean => text === '' || /^[\p{Lu}•“][\s\S]*[.!?]$/u.test(text);
const endsOne = (node: Node | undefined): boolean =>
  node === undefined || wordsOf(node).every((text) => text === '' || /[.!?]$/.test(text));
const startsOne = (node: Node | undefined): boolean =>
  node === undefined || wordsOf(node).every((text) => text === '' || /^[\p{Lu}•]/u.test(text));

/** Whole sentences that stand in an `if` are texts of their own. */
export function sentencesOf(nodes: readonly Node[]): Node[][] {
  const parts: Node[][] = [[]];
  nodes.forEach((node, place) => {
    const isApart =
      node.kind === 'choice' &&
      hasWords(node) &&
      wordsOf(node).every(isFull) &&
      endsOne(nodes[place - 1]) &&
      startsOne(nodes[place + 1]);
    if (isApart) parts.push([node], []);
    else parts.at(-1)?.push(node);
  });
  return parts.filter((part) => part.length > 0);
}

export function messageOf(nodes: readonly Node[], write: Write): Message {
  const slots = new Map<number, Slot>();
  const plain = (raw: string, counted = ''): string => {
    const number = slots.size + 1;
    slots.set(number, { start: raw, end: '', isPlain: true, counted });
    return `{${number}}`;
  };
  const around = (start: string, children: readonly Node[], end: string): string => {
    const number = slots.size + 1;
    slots.set(number, { start, end, isPlain: false });
    return `<${number}>${children.map(text).join('')}</${number}>`;
  };
  const text = (node: Node): string => {
    if (node.kind === 'text') return decode(node.raw);
    if (node.kind === 'expression') return plain(write.each(node), countedIn(node.raw));
    if (!hasWords(node)) return plain(write.each(node));
    if (node.kind === 'element') return around(write.tag(node.open), node.children, node.close.raw);
    if (node.kind === 'whole') return plain(write.each(node));
    const conditions = conditionsOf(node.branches);
    return node.branches
      .map(({ children }, place) =>
        children.length === 0 ? '' : around(`{% if ${conditions[place]} %}`, children, '{% endif %}'),
      )
      .join('');
  };
  const whole = nodes.map(text).join('');
  const [before, , after] = bare(whole);
  return { key: keyOf(whole), before, after, slots };
}

function putOne(slots: Message['slots'], text: string, encode: (text: string) => string): string {
  return text
    .split(/(\{\d+\}|<\/?\d+>)/)
    .map((piece) => {
      const [, mark = '', number = ''] = /^([{<]\/?)(\d+)[>}]$/.exec(piece) ?? [];
      const slot = slots.get(Number(number));
      if (number === '' || slot === undefined) return encode(piece);
      return mark === '</' ? slot.end : slot.start;
    })
    .join('');
}

function putForms(message: Message, forms: Forms, encode: (text: string) => string): string {
  const counted = [...message.slots.values()].find((slot) => slot.counted)?.counted ?? '0';
  const { other = '', ...rest } = forms;
  const branches = Object.entries(rest).map(
    ([category, text], place) =>
      `{% ${place === 0 ? 'if' : 'elif'} formOf(${counted}) == '${category}' %}${putOne(message.slots, text, encode)}`,
  );
  const last = putOne(message.slots, other, encode);
  return branches.length === 0 ? last : `${branches.join('')}{% else %}${last}{% endif %}`;
}

export const put = (message: Message, found: Translation, encode: (text: string) => string): string =>
  typeof found === 'string' ? putOne(message.slots, found, encode) : putForms(message, found, encode);
