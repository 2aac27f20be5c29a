// The source of a template in another language: its texts replaced by those of the catalogue, once, when it is compiled.
// Whatever an expression gives (labels of lists, notices, errors) is looked up when the page is rendered.
import { bodyOf, lookedUp, textsOf, withPlurals } from './expressions.ts';
import { messageOf, put, sentencesOf, trimmed } from './messages.ts';
import { isAsItIs, isInline, type Node, nodesOf, strays } from './nodes.ts';
import { type Token, tokensOf } from './tokens.ts';
import { decode, encode, isAddress, isText, isWordy, keyOf, type Translation } from './words.ts';

export interface Texts {
  /** @param key an English text @returns undefined where it is not translated */
  find(key: string): Translation | undefined;
}

/** What people see or hear besides the content of elements. */
const SHOWN = /^(?:aria-label|aria-description|title|label|placeholder|alt|data-[a-z-]+)$/;
const ATTRIBUTE = /([\w-]+)="((?:[^"{]|\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}|\{)*)"/g;

export function createTranslator(texts: Texts) {
  const asShown = (source: string): string => {
    for (const text of textsOf(bodyOf(source), true)) texts.find(keyOf(text));
    return lookedUp(source);
  };

  const statement = (token: Token): string => {
    if (token.kind !== 'statement') return token.raw;
    if (!/^(?:if|elif)$/.test(token.name))
      for (const text of textsOf(bodyOf(token.raw), false)) texts.find(keyOf(text));
    return withPlurals(token.raw);
  };

  /** The value of an attribute: a text, where it has words of its own. */
  function attributeText(value: string): string {
    const pieces = tokensOf(value);
    if (pieces.some(({ kind }) => kind !== 'text' && kind !== 'expression'))
      return pieces
        .map((piece) =>
          piece.kind === 'text' ? say([{ kind: 'text', raw: piece.raw }]) : inAttribute(piece),
        )
        .join('');
    return say(
      pieces.map((piece) => ({ kind: piece.kind === 'text' ? 'text' : 'expression', raw: piece.raw })),
    );
  }
  const inAttribute = (token: Token): string =>
    token.kind === 'expression' ? asShown(token.raw) : statement(token);

  const tag = (token: Token): string =>
    token.raw.replace(ATTRIBUTE, (whole, name: string, value: string) => {
      if (!SHOWN.test(name)) return whole;
      const words = value.replace(/\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}/g, '');
      const isPlain = name.startsWith('data-') && name !== 'data-label' && !isText(decode(words));
      return isPlain ? whole : `${name}="${attributeText(value)}"`;
    });

  const single = (token: Token): string => {
    if (token.kind === 'open') return tag(token);
    if (token.kind === 'statement') return statement(token);
    return token.kind === 'expression' ? asShown(token.raw) : token.raw;
  };

  /** A run of inline nodes: a text, if it has words of its own, else each of them by itself. */
  function say(nodes: readonly Node[]): string {
    const isSentence = nodes.some((node) => node.kind === 'text' && isWordy(decode(node.raw)));
    if (!isSentence) return nodes.map(each).join('');
    // A macro that makes an address: nothing of it is looked up.
    const joined = nodes.map((node) => (node.kind === 'text' ? node.raw : '{a}')).join('');
    if (isAddress(joined)) return nodes.map((node) => asWritten(node)).join('');
    const sentences = sentencesOf(nodes);
    if (sentences.length > 1) return sentences.map(say).join('');
    const { before, inner, after } = trimmed(nodes);
    const message = messageOf(inner, { each, tag, statement });
    const text = put(message, texts.find(message.key) ?? message.key, encode);
    return `${before.map(each).join('')}${message.before}${text}${message.after}${after.map(each).join('')}`;
  }

  const asWritten = (node: Node): string => {
    if (node.kind === 'text' || node.kind === 'expression') return node.raw;
    if (node.kind === 'whole') return node.tokens.map(({ raw }) => raw).join('');
    if (node.kind === 'element')
      return node.open.raw + node.children.map(asWritten).join('') + node.close.raw;
    const branches = node.branches.map(({ start, children }) => start.raw + children.map(asWritten).join(''));
    return branches.join('') + node.end.raw;
  };

  function each(node: Node): string {
    if (node.kind === 'text') return node.raw;
    if (node.kind === 'expression') return asShown(node.raw);
    if (node.kind === 'whole') return asItStands(node.tokens);
    if (node.kind === 'element') return `${tag(node.open)}${say(node.children)}${node.close.raw}`;
    const branches = node.branches.map(({ start, children }) => `${statement(start)}${say(children)}`);
    return `${branches.join('')}${node.end.raw}`;
  }

  function asItStands(tokens: readonly Token[]): string {
    const [first] = tokens;
    if (first === undefined || !isAsItIs(first)) {
      const inner = tokens.slice(1, -1);
      return `${single(first ?? { kind: 'text', raw: '' })}${run(inner)}${tokens.at(-1)?.raw ?? ''}`;
    }
    return `${tag(first)}${tokens
      .slice(1)
      .map(({ raw }) => raw)
      .join('')}`;
  }

  function run(tokens: readonly Token[]): string {
    const lost = strays(tokens);
    if (lost.size === 0) return say(nodesOf(tokens));
    let source = '';
    let from = 0;
    for (const place of [...lost].sort((one, other) => one - other)) {
      const token = tokens[place];
      source += run(tokens.slice(from, place)) + (token === undefined ? '' : single(token));
      from = place + 1;
    }
    return source + run(tokens.slice(from));
  }

  return (source: string): string => {
    let result = '';
    let inline: Token[] = [];
    /** Within an element whose text is not ours: its name, and how many of that name are open. */
    let asItIs = { name: '', depth: 0 };
    for (const token of tokensOf(source)) {
      if (asItIs.depth > 0) {
        if ('name' in token && token.name === asItIs.name)
          asItIs = { ...asItIs, depth: asItIs.depth + (token.kind === 'close' ? -1 : 1) };
        result += token.raw;
      } else if (isInline(token)) inline.push(token);
      else {
        result += `${run(inline)}${single(token)}`;
        inline = [];
        if (isAsItIs(token) && 'name' in token) asItIs = { name: token.name, depth: 1 };
      }
    }
    return `${result}${run(inline)}`;
  };
}
