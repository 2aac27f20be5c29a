// How long the functions of the product are, by the compiler's own syntax tree. Lines of functions inside of a function are
// theirs: a factory is as long as what it does itself, however many functions it makes.
import { join, relative } from 'node:path';
import { type Node, type SourceFile, SyntaxKind } from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';

interface LongFunction {
  /** `src/http/body.ts readForm` */
  readonly at: string;
  readonly lines: number;
  /** A method, or made by another function. */
  readonly isInner: boolean;
}

const functions: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.FunctionExpression,
  SyntaxKind.ArrowFunction,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.Constructor,
  SyntaxKind.GetAccessor,
  SyntaxKind.SetAccessor,
]);

const isFunction = (node: Node): boolean => functions.has(node.kind);

function isInner(node: Node): boolean {
  if (node.kind === SyntaxKind.MethodDeclaration) return true;
  for (let at = node.parent; at.kind !== SyntaxKind.SourceFile; at = at.parent)
    if (isFunction(at)) return true;
  return false;
}

/** A function's own name, or of what it is assigned to or stands in. */
function nameOf(node: Node): string {
  for (let at = node; at.kind !== SyntaxKind.SourceFile; at = at.parent) {
    if ('name' in at && typeof at.name === 'object' && at.name !== null && 'text' in at.name) {
      return String(at.name.text);
    }
  }
  return '(anonymous)';
}

/** @param folders relative to the project, whose tsconfig.json says what belongs to it */
export function longFunctions(root: string, folders: readonly string[], limit: number): LongFunction[] {
  const api = new API({ cwd: root });
  const found: LongFunction[] = [];

  /** @returns the lines of all functions within */
  function visit(node: Node, path: string, source: SourceFile): number {
    let within = 0;
    node.forEachChild((child) => {
      within += visit(child, path, source);
    });
    if (!isFunction(node)) return within;
    const lines = source.text.slice(node.getStart(source), node.end).split('\n').length;
    if (lines - within > limit)
      found.push({ at: `${path} ${nameOf(node)}`, lines: lines - within, isInner: isInner(node) });
    // The line on which it begins is its surroundings', too.
    return lines - 1;
  }

  try {
    const snapshot = api.updateSnapshot({ openProject: join(root, 'tsconfig.json') });
    const program = snapshot.getProjects()[0]?.program;
    if (program === undefined) throw new TypeError('tsconfig.json opens no project');
    for (const name of program.getSourceFileNames()) {
      const path = relative(root, name).replaceAll('\\', '/');
      const source = folders.includes(path.split('/', 1)[0] ?? '') ? program.getSourceFile(name) : undefined;
      if (source !== undefined) visit(source, path, source);
    }
  } finally {
    api.close();
  }
  return found.sort((one, other) => other.lines - one.lines);
}
