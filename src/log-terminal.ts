// What the log looks like in a terminal: a short line per record, requests as "method path status time". Files of our own pages
// that were served are left out there; the JSON lines have all of it. Nothing from outside can control the terminal (R148).
import { styleText } from 'node:util';

type Fields = Readonly<Record<string, unknown>>;
type Color = (text: string) => string;
type Colors = Readonly<Record<'red' | 'yellow' | 'green' | 'dim', Color>>;

/** Said by the line itself. */
const OWN = new Set(['level', 'time', 'pid', 'msg', 'err']);
const REQUEST = 'request';
/** Errors that are no bugs: a stack would hide what the operator can fix. */
const WITHOUT_STACK = new Set(['StoreUnavailable', 'OperatorError', 'SigningKeyUnreadable']);
const ASSET = /(?:\/assets\/[^?]*|\/favicon\.ico)$/;

const textOf = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[\w./:@-]+$/.test(text) ? text : JSON.stringify(text);
};

const fieldsOf = (fields: Fields, left: ReadonlySet<string>): string =>
  Object.entries(fields)
    .filter(([name, value]) => !left.has(name) && value !== undefined)
    .map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : textOf(value)}`)
    .join(' ');

const isRequest = ({ msg, method, path, status }: Fields): boolean =>
  msg === REQUEST && typeof method === 'string' && typeof path === 'string' && typeof status === 'number';

/** A missing or refused one is worth a line. */
const isServedAsset = (fields: Fields): boolean =>
  isRequest(fields) && Number(fields.status) < 400 && ASSET.test(String(fields.path));

const plainErrorOf = ({ err }: Fields): string | undefined => {
  if (typeof err !== 'object' || err === null || !('type' in err) || !('message' in err)) return undefined;
  return WITHOUT_STACK.has(String(err.type)) ? String(err.message) : undefined;
};

interface Style {
  readonly colors: Colors;
  /** Makes text from outside harmless. */
  readonly safe: (text: string) => string;
}

function requestText({ method, path, status, ms, ...more }: Fields, { colors, safe }: Style): string {
  const code = Number(status);
  const color = code >= 500 ? colors.red : code >= 400 ? colors.yellow : colors.green;
  const parts = [
    safe(String(method)),
    safe(String(path)),
    color(String(code)),
    colors.dim(`${Math.round(Number(ms))} ms`),
  ];
  if (more.is_aborted === true) parts.push(colors.yellow('closed by the client'));
  if (typeof more.reason === 'string') parts.push(colors.dim(safe(more.reason)));
  // Error pages show it, so that a report of one is found here.
  if (code >= 500) parts.push(colors.dim(safe(`request_id=${String(more.request_id)}`)));
  return parts.join(' ');
}

function lineText(fields: Fields, style: Style): string {
  const { colors, safe } = style;
  const time = colors.dim(new Date(String(fields.time)).toTimeString().slice(0, 8));
  if (isRequest(fields)) return `${time} ${requestText(fields, style)}`;
  const label = String(fields.level);
  const color =
    label === 'warn' ? colors.yellow : label === 'error' || label === 'fatal' ? colors.red : colors.dim;
  const level = label === 'info' ? '' : `${color(label)} `;
  const rest = safe(fieldsOf(fields, OWN));
  const plainError = plainErrorOf(fields);
  const text = plainError === undefined ? fields.msg : `${String(fields.msg)}: ${plainError}`;
  const message = text === undefined ? '' : safe(String(text));
  return `${time} ${level}${message}${rest === '' ? '' : ` ${colors.dim(rest)}`}`;
}

const colorsOf = (isColored: boolean): Colors => {
  const color =
    (name: keyof Colors): Color =>
    (text) =>
      isColored ? styleText(name, text, { validateStream: false }) : text;
  return { red: color('red'), yellow: color('yellow'), green: color('green'), dim: color('dim') };
};

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/** Where an error happened, and what had caused it, each line indented: none looks like a record. */
function stackLines(error: unknown, safe: Style['safe']): string[] {
  if (!isFields(error)) return [];
  const { type, message, stack, cause, ...more } = error;
  const own = [
    ...String(stack).split('\n'),
    ...(Object.keys(more).length === 0 ? [] : [fieldsOf(more, OWN)]),
  ];
  return [...own.map((line) => `    ${safe(line)}`), ...stackLines(cause, safe)];
}

/** @returns turns a finished JSON line into a terminal's; '' for one that is not shown there */
export function terminalLines(isColored: boolean, safe: (text: string) => string): (line: string) => string {
  const style: Style = { colors: colorsOf(isColored), safe };
  return (line) => {
    const fields: Fields = JSON.parse(line);
    if (isServedAsset(fields)) return '';
    const stack = plainErrorOf(fields) === undefined ? stackLines(fields.err, safe) : [];
    return [lineText(fields, style), ...stack, ''].join('\n');
  };
}
