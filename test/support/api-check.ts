// Checks every response of the admin API against its own OpenAPI document: declared status, headers, and a body of the declared
// form with nothing else. All servers of tests are watched, so that requests of any caller (a test, a browser, a fuzzer) are
// checked.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { apiDocument } from './api-document.ts';

export interface SeenAnswer {
  readonly method: string;
  /** Below /admin/api, with or without a query. */
  readonly path: string;
  readonly status: number;
  readonly header: (name: string) => string | null | undefined;
  readonly text: string;
}

type Members = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => string | undefined;

interface Declared {
  readonly headers: readonly { readonly name: string; readonly isRequired: boolean; readonly check: Check }[];
  /** By content type. */
  readonly bodies: ReadonlyMap<string, Check>;
}

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const membersOf = (value: unknown): Members => (isMembers(value) ? value : {});

/** Where a schema says which members there are, there are no others; and references are what they point to. */
function closed(value: unknown, root: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => closed(item, root));
  if (!isMembers(value)) return value;
  if (typeof value.$ref === 'string') return closed(target(value.$ref, root), root);
  const inner = Object.fromEntries(Object.entries(value).map(([name, of]) => [name, closed(of, root)]));
  const isOpen = isMembers(value.properties) && value.additionalProperties === undefined;
  const named = isOpen && Object.keys(membersOf(value.properties)).length > 0;
  return named ? { ...inner, additionalProperties: false } : inner;
}

const target = (reference: string, root: unknown): unknown =>
  reference
    .replace(/^#\//, '')
    .split('/')
    .reduce((found: unknown, name) => membersOf(found)[name], root);

function checkOf(schema: unknown, root: unknown): Check {
  // Any object is a schema; what it says is for the compiler.
  const compiled = Compile(closed(schema, root) as TSchema);
  return (value) => {
    if (compiled.Check(value)) return undefined;
    const [first] = compiled.Errors(value);
    return `${first?.instancePath ?? ''} ${first?.message ?? ''}`;
  };
}

/** @returns what is wrong with a value, by a schema of the document */
export const problemIn = (schema: unknown, value: unknown, root: unknown): string | undefined =>
  checkOf(schema, root)(value);

const COMMON = ['ETag', 'Location', 'Idempotency-Replayed'];

function createDocument() {
  const root = membersOf(apiDocument());
  const paths = Object.entries(membersOf(root.paths)).map(([template, operations]) => ({
    operations: membersOf(operations),
    pattern: new RegExp(`^${template.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
    parameters: template.split('{').length,
  }));
  const known = new Map<unknown, Declared>();

  function declaredOf(response: unknown): Declared {
    const before = known.get(response);
    if (before !== undefined) return before;
    const { headers, content } = membersOf(
      typeof membersOf(response).$ref === 'string'
        ? target(String(membersOf(response).$ref), root)
        : response,
    );
    const declared: Declared = {
      headers: Object.entries(membersOf(headers)).map(([name, value]) => {
        const header = membersOf(target(String(membersOf(value).$ref), root));
        return { name, isRequired: header.required === true, check: checkOf(header.schema, root) };
      }),
      bodies: new Map(
        Object.entries(membersOf(content)).map(([type, of]) => [type, checkOf(membersOf(of).schema, root)]),
      ),
    };
    known.set(response, declared);
    return declared;
  }

  const error = membersOf(membersOf(membersOf(root.components).schemas).Error);
  const checkError = checkOf(error, root);

  /** Of an address or method that no route has. */
  function problemOfStranger(seen: SeenAnswer, isAddress: boolean): string | undefined {
    const { status, text, method } = seen;
    if (method === 'OPTIONS' && status === 204)
      return text === '' && seen.header('Allow') ? undefined : 'has a body, or no Allow';
    const right = isAddress ? [401, 403, 405, 429, 503] : [400, 401, 403, 404, 429, 503];
    if (!right.includes(status)) return 'is an answer of a route that is not declared';
    return method === 'HEAD' ? undefined : checkError(parsed(text));
  }

  return function problemOf(seen: SeenAnswer): string | undefined {
    const [path = ''] = seen.path.split('?');
    const [found] = paths
      .filter(({ pattern }) => pattern.test(path))
      .sort((a, b) => a.parameters - b.parameters);
    const isHead = seen.method === 'HEAD';
    const operation = found?.operations[isHead ? 'get' : seen.method.toLowerCase()];
    if (!isMembers(operation)) return problemOfStranger(seen, found !== undefined);
    const response = membersOf(operation.responses)[seen.status];
    if (response === undefined) return 'is a status that is not declared';
    const { headers, bodies } = declaredOf(response);
    for (const { name, isRequired, check } of headers) {
      const value = seen.header(name) ?? undefined;
      if (value === undefined ? isRequired : check(value) !== undefined) return `has ${name}: ${value}`;
    }
    for (const name of COMMON) {
      const isThere = (seen.header(name) ?? undefined) !== undefined;
      if (isThere && !headers.some((one) => one.name === name)) return `has ${name}, which is not declared`;
    }
    if (isHead) return seen.text === '' ? undefined : 'has a body';
    if (bodies.size === 0) return seen.text === '' ? undefined : 'has a body, and none is declared';
    const [type = ''] = (seen.header('content-type') ?? '').split(';');
    const check = bodies.get(type);
    if (check === undefined) return `has the content type ${type}, which is not declared`;
    const isLines = !type.endsWith('/json');
    const parts = isLines ? seen.text.split('\n').filter((line) => line !== '') : [seen.text];
    return parts.map((part) => check(parsed(part))).find((problem) => problem !== undefined);
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

let document: ReturnType<typeof createDocument> | undefined;

/** @returns what is wrong with the answer, undefined when nothing is */
export function problemOfAnswer(seen: SeenAnswer): string | undefined {
  document ??= createDocument();
  const problem = document(seen);
  if (problem === undefined) return undefined;
  return `${seen.method} /admin/api${seen.path}: ${seen.status} ${problem}\n${seen.text.slice(0, 500)}`;
}

/**
 * For servers in processes of their own, of which only the answers are seen.
 * @throws Error when it is not as declared
 */
export function assertDeclared(
  method: string,
  path: string,
  { status, headers }: Response,
  text: string,
): void {
  const problem = problemOfAnswer({ method, path, status, header: (name) => headers.get(name), text });
  if (problem !== undefined) throw new Error(problem);
}

export interface Watched {
  readonly handler: RequestListener;
  /** @throws Error with everything that was wrong until now */
  assertRight(): void;
}

const MOST_TOLD = 10;

/** @param basePath of BASE_URL, where requests carry it */
export function watchAdminApi(handler: RequestListener, basePath = ''): Watched {
  const problems = new Set<string>();
  const prefix = `${basePath}/admin/api`;

  function watch(request: IncomingMessage, response: ServerResponse, path: string): void {
    const chunks: Buffer[] = [];
    const keep = (chunk: unknown): void => {
      if (typeof chunk === 'string') chunks.push(Buffer.from(chunk));
      else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
    };
    for (const name of ['write', 'end'] as const) {
      const original = response[name];
      Object.defineProperty(response, name, {
        value(...parts: unknown[]) {
          keep(parts[0]);
          return Reflect.apply(original, response, parts);
        },
      });
    }
    response.once('finish', () => {
      const problem = problemOfAnswer({
        method: request.method ?? '',
        path,
        status: response.statusCode,
        header: (name) => {
          const value = response.getHeader(name);
          return value === undefined ? undefined : String(value);
        },
        text: Buffer.concat(chunks).toString('utf8'),
      });
      if (problem !== undefined) problems.add(problem);
    });
  }

  return {
    handler(request, response) {
      const url = request.url ?? '';
      const rest = url.slice(prefix.length);
      if (url.startsWith(prefix) && (rest === '' || /^[/?]/.test(rest))) watch(request, response, rest);
      return handler(request, response);
    },
    assertRight() {
      if (problems.size === 0) return;
      const told = [...problems].slice(0, MOST_TOLD).join('\n\n');
      problems.clear();
      throw new Error(`the admin API does not answer as its OpenAPI document says:\n\n${told}`);
    },
  };
}
