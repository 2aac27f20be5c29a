// Texts in expressions of nunjucks. An expression stays as it is, and what comes out of it is looked up when the page is
// rendered; but a choice between one and many takes the plural forms of the language.
import { isText } from './words.ts';

interface Piece {
  readonly kind: 'text' | 'mark' | 'other';
  readonly value: string;
}

const PIECE = /'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(==|!=|>=|<=|[()[\]{},:~|=])|([\w.]+)|(\S)/g;
const MARKS: ReadonlySet<string> = new Set([
  'if',
  'else',
  'or',
  'and',
  'in',
  'not',
  'set',
  'elif',
  'for',
  'is',
]);

const unquoted = (text: string): string => text.replace(/\\n/g, '\n').replace(/\\(.)/g, '$1');

const piecesOf = (expression: string): Piece[] =>
  [...expression.matchAll(PIECE)].map(([, single, double, mark, word, rest]) => {
    const literal = single ?? double;
    if (literal !== undefined) return { kind: 'text', value: unquoted(literal) };
    if (mark !== undefined || (word !== undefined && MARKS.has(word)))
      return { kind: 'mark', value: mark ?? word ?? '' };
    return { kind: 'other', value: word ?? rest ?? '' };
  });

/** The operands of `a ~ 'b' ~ c`, or one literal by itself, and what stands around them. */
interface Chain {
  operands: (string | undefined)[];
  before: string;
  /** Whether an operand must come before the next one counts. */
  isJoined: boolean;
}

interface Found {
  readonly operands: readonly (string | undefined)[];
  readonly before: string;
  readonly after: string;
}

function chainsOf(pieces: readonly Piece[]): Found[] {
  const found: Found[] = [];
  const outer: Chain[] = [];
  let chain: Chain = { operands: [], before: '', isJoined: true };
  const add = (operand: string | undefined): void => {
    if (chain.isJoined) chain.operands.push(operand);
    chain.isJoined = false;
  };
  const end = (after: string): void => {
    const { operands, before } = chain;
    if (operands.some((operand) => operand !== undefined)) found.push({ operands, before, after });
    chain = { operands: [], before: after, isJoined: true };
  };
  let name = '';
  for (const { kind, value } of pieces) {
    if (kind === 'text') add(value);
    else if (kind === 'other') add(undefined);
    else if (value === '~') chain.isJoined = true;
    else if (/^[([{]$/.test(value)) {
      // Arguments, members and parentheses: one operand outside, texts of their own inside.
      add(undefined);
      outer.push(chain);
      chain = { operands: [], before: `${name}${value}`, isJoined: true };
    } else if (/^[)\]}]$/.test(value)) {
      end(value);
      chain = outer.pop() ?? chain;
    } else if (value !== '|') end(value);
    name = kind === 'other' ? value : '';
  }
  end('');
  return found;
}

/** Its values are `{a}`, `{b}`, … : what the text is made of is known only when the page is rendered. */
const patternOf = (operands: readonly (string | undefined)[]): string => {
  let number = 0;
  return operands
    .map((operand) => {
      if (operand !== undefined) return operand;
      number += 1;
      return `{${String.fromCharCode(96 + number)}}`;
    })
    .join('');
};

/** Compared with, looked up by, or a member's name: never shown. */
const isHidden = ({ before, after }: Found): boolean =>
  ['==', '!=', 'in'].includes(before) || ['==', '!=', ':', 'in'].includes(after);

/** One small word is a text only where a choice between texts is made: `'none' if …`, `else 'off'`, `or 'refused'`. */
const isChosen = ({ before, after, operands }: Found): boolean =>
  operands.length === 1 &&
  (after === 'if' || before === 'else' || before === 'or' || before === ':' || before === 'badge(');

/** Kinds of badges, buttons and cells, which stand where texts do. */
const LOOKS: ReadonlySet<string> = new Set(
  'good bad warn strong equal quiet primary risky narrow wide bare nearby tick-cell person yes no number text password'.split(
    ' ',
  ),
);

export function textsOf(expression: string, isShown: boolean): string[] {
  return chainsOf(piecesOf(expression))
    .filter((chain) => !isHidden(chain))
    .flatMap((chain) => {
      const text = patternOf(chain.operands);
      if (text.split(' ').every((word) => LOOKS.has(word))) return [];
      const isSmall = isShown && isChosen(chain) && /^\s*[a-z][a-z’-]+\s*$/.test(text);
      return isText(text) || isSmall ? [text] : [];
    });
}

const ONE_OR_MANY =
  /('(?:[^'\\]|\\.)*'|\b\w+\[0\])\s+if\s+((?:[\w.]|\[[\w']+\])+(?:\s*\|\s*length)?)\s*==\s*1\s+else\s+('(?:[^'\\]|\\.)*'|\b\w+\[1\])/g;

/** `'user' if n == 1 else 'users'` as `numbered(n, 'user', 'users')`; the same of a pair of them: `what[0]`, `what[1]`. */
export const withPlurals = (block: string): string =>
  block.replace(
    ONE_OR_MANY,
    (_, one: string, number: string, many: string) => `numbered(${number}, ${one}, ${many})`,
  );

/** The expression, with what comes out of it looked up. */
export function lookedUp(raw: string): string {
  const [, start = '', body = '', end = ''] = /^(\{\{-?)([\s\S]*?)(-?\}\})$/.exec(raw) ?? [];
  return `${start} said(${withPlurals(body).trim()}) ${end}`;
}

export const bodyOf = (raw: string): string => raw.replace(/^\{[{%]-?/, '').replace(/-?[%}]\}$/, '');
