// Splits the source of a template into texts, tags of HTML, and expressions, statements and comments of nunjucks. It knows
// just enough of both: our own templates are its only input.

export type Token =
  | { readonly kind: 'text' | 'expression' | 'comment'; readonly raw: string }
  | { readonly kind: 'statement' | 'open' | 'close'; readonly raw: string; readonly name: string };

const ENDS = { '{{': '}}', '{%': '%}', '{#': '#}' } as const;
const isStart = (two: string): two is keyof typeof ENDS => Object.hasOwn(ENDS, two);

/** @returns where the expression, statement or comment that starts at `from` has ended */
function endOfBlock(source: string, from: number): number {
  const start = source.slice(from, from + 2);
  const end = isStart(start) ? ENDS[start] : '';
  let quote = '';
  for (let at = from + 2; at < source.length; at += 1) {
    const character = source.charAt(at);
    if (quote !== '') {
      if (character === '\\') at += 1;
      else if (character === quote) quote = '';
    } else if (source.startsWith(end, at)) return at + 2;
    else if (start !== '{#' && (character === "'" || character === '"')) quote = character;
  }
  throw new SyntaxError(`never ends: ${source.slice(from, from + 60)}`);
}

const isBlock = (source: string, at: number): boolean => isStart(source.slice(at, at + 2));

function endOfTag(source: string, from: number): number {
  let quote = '';
  for (let at = from + 1; at < source.length; at += 1) {
    const character = source.charAt(at);
    if (isBlock(source, at)) at = endOfBlock(source, at) - 1;
    else if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '>') return at + 1;
    else if (character === '"' || character === "'") quote = character;
  }
  throw new SyntaxError(`never ends: ${source.slice(from, from + 60)}`);
}

function blockToken(raw: string): Token {
  if (raw.startsWith('{{')) return { kind: 'expression', raw };
  if (raw.startsWith('{#')) return { kind: 'comment', raw };
  return { kind: 'statement', raw, name: /^\{%-?\s*(\w+)/.exec(raw)?.[1] ?? '' };
}

function tagToken(raw: string): Token {
  const [, slash = '', name = ''] = /^<(\/?)([a-zA-Z][\w-]*)/.exec(raw) ?? [];
  if (name === '') return { kind: 'comment', raw };
  return { kind: slash === '' ? 'open' : 'close', raw, name: name.toLowerCase() };
}

export function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  let start = 0;
  let at = 0;
  const take = (end: number, token: (raw: string) => Token): void => {
    if (at > start) tokens.push({ kind: 'text', raw: source.slice(start, at) });
    tokens.push(token(source.slice(at, end)));
    start = end;
    at = end;
  };
  while (at < source.length) {
    if (isBlock(source, at)) take(endOfBlock(source, at), blockToken);
    else if (/^<[a-zA-Z/!]/.test(source.slice(at, at + 2))) take(endOfTag(source, at), tagToken);
    else at += 1;
  }
  if (at > start) tokens.push({ kind: 'text', raw: source.slice(start) });
  return tokens;
}
