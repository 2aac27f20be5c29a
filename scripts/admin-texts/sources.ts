// The texts that TypeScript hands to pages of the Admin UI: literals that read like words for people, by the compiler's own
// syntax tree. One too many costs a translator a line; what is left out stays English.
import { join, relative } from 'node:path';
import {
  isBinaryExpression,
  isCallExpression,
  isCaseClause,
  isConditionalExpression,
  isNewExpression,
  isParenthesizedExpression,
  isStringLiteralLikeNode,
  isTaggedTemplateExpression,
  isTemplateExpression,
  type Node,
  type SourceFile,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';
import { isText, isWordy } from '../../src/views/translate/words.ts';

export interface Found {
  readonly text: string;
  /** A file of the project. */
  readonly at: string;
}

/** All of src/admin but the guides and what the API says about itself. */
const PAGES =
  /^src\/admin\/(?!guides\/|api\/|resources\/branding\/samples\/|resources\/[\w-]+\/(?:resource|schema|query)\.ts)/;
/** Whose refusals reach pages. */
const REFUSING =
  /^src\/(?:(?:accounts|apis|branding|clients|mail|passkeys|recovery|registration|second-factors|settings)\/|model\/(?:applications\/|users\/)?[a-z]*-?kinds|model\/users\/username|model\/uris|api\/walk|oidc\/outbound\/outbound|admin\/(?:api\/(?!openapi|examples|schema-parts|shared|list-query|route)|resources\/[\w-]+\/(?:resource|schema|query)\.ts))/;
const REFUSAL =
  /^(?:\{a\}\{?b?\}?:? ?)?(?:[Mm]ust|[Ii]s|[Ii]t|[Hh]as|[Nn]eeds?|[Mm]ay only|[Ee]ntry|This|These|An?|The|No|Only|Unknown|Cannot|Costs|Sign in|Enter|There|Application|Group|API|With|Connection|Addresses|its|one of|true or|Add|Approve|from|of at|something|Write) .*|^.* (?:is|are|has|was|were|had|cannot|must|do|does) .*\.$/;

const SKIPPED: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.ImportDeclaration,
  SyntaxKind.ExportDeclaration,
  SyntaxKind.InterfaceDeclaration,
  SyntaxKind.TypeAliasDeclaration,
  SyntaxKind.LiteralType,
]);
/** Members that describe the API, or that programs read. */
const NOT_SHOWN =
  /^(?:description|summary|operationId|pattern|attributes|example|examples|name|key|path|template)$/;
/** Of schemas (src/admin/api/schema-parts.ts): a text handed to them alone is their description. */
const SCHEMAS = /^(?:string|integer|boolean|object|array|oneOf|orNull|\w+OrNull|timestamp)$/;
/** The name of a route. */
const ROUTE = /^(?:GET|POST|PUT|PATCH|DELETE) \//;
const MAX_VARIANTS = 12;
const VALUE = '\0';
/** A value that is a text of ours: `ours(problem)` (src/phrase.ts). */
const OURS = '\u0001';

const product = (heads: readonly string[], tails: readonly string[]): string[] =>
  heads.flatMap((head) => tails.map((tail) => head + tail)).slice(0, MAX_VARIANTS);

const isJoined = (node: Node) => isBinaryExpression(node) && node.operatorToken.kind === SyntaxKind.PlusToken;

const isOneText = (node: Node): boolean =>
  isStringLiteralLikeNode(node) || isTemplateExpression(node) || isJoined(node);

/** What an expression can be: a text, texts by a condition, or a value. */
function variants(node: Node, source: SourceFile): string[] {
  if (isStringLiteralLikeNode(node)) return [node.text];
  if (isParenthesizedExpression(node)) return variants(node.expression, source);
  if (isTemplateExpression(node))
    return node.templateSpans.reduce(
      (heads, span) => product(product(heads, variants(span.expression, source)), [span.literal.text]),
      [node.head.text],
    );
  if (isConditionalExpression(node))
    return [...variants(node.whenTrue, source), ...variants(node.whenFalse, source)].slice(0, MAX_VARIANTS);
  if (isBinaryExpression(node) && node.operatorToken.kind === SyntaxKind.PlusToken) {
    const joined = product(variants(node.left, source), variants(node.right, source));
    // A sum is one value.
    return joined.map((text) => text.replaceAll(/\0+/g, VALUE));
  }
  const isOurs = isCallExpression(node) && node.expression.getText(source) === 'ours';
  return [isOurs ? OURS : VALUE];
}

/** Of phrase`…`: every expression is a value, whatever it can be. */
const phraseOf = (template: Node): string =>
  isTemplateExpression(template)
    ? template.templateSpans.reduce((text, span) => text + VALUE + span.literal.text, template.head.text)
    : isStringLiteralLikeNode(template)
      ? template.text
      : '';

const named = (text: string): string => {
  let number = 0;
  return text.replaceAll(new RegExp(`[${VALUE}${OURS}]`, 'g'), (mark) => {
    number += 1;
    return `{${String.fromCharCode((mark === OURS ? 64 : 96) + number)}}`;
  });
};

/** Pages show what the rules of outbound requests say as a sentence. */
const asShown = (text: string, path: string): string =>
  path.startsWith('src/oidc/outbound/') && !text.endsWith('.')
    ? `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
    : text;

const isForPrograms = (node: Node, source: SourceFile): boolean => {
  if (isNewExpression(node)) return /^(?:Type|Syntax|Range)?Error$/.test(node.expression.getText(source));
  if (isCallExpression(node))
    return /(?:^|\.)(?:log|info|warn|error|debug|querySelector)$|^log\b|^createHmac\(.*\.update$/s.test(
      node.expression.getText(source),
    );
  if (node.kind !== SyntaxKind.PropertyAssignment || !('name' in node)) return false;
  const member = source.text.slice(node.getStart(source), node.end);
  // What a claim called `name` means is a sentence, not a name.
  if (/^name: '[^']+\.'$/.test(member)) return false;
  return NOT_SHOWN.test(member.split(':')[0]?.replace(/['"]/g, '') ?? '');
};

function textsIn(source: SourceFile, path: string): Found[] {
  const found: Found[] = [];
  const visit = (node: Node, isTaken: boolean): void => {
    if (SKIPPED.has(node.kind) || isForPrograms(node, source)) return;
    if (isTaggedTemplateExpression(node)) {
      const text = named(phraseOf(node.template));
      if (isWordy(text)) found.push({ text, at: path });
      if (isTemplateExpression(node.template))
        for (const { expression } of node.template.templateSpans) visit(expression, false);
      return;
    }
    const isWhole = isOneText(node);
    if (isWhole && !isTaken)
      for (const variant of variants(node, source)) {
        const text = named(variant);
        const isShown = PAGES.test(path) || (REFUSAL.test(text) && !/`|docs\//.test(text));
        // Short times of English; other languages have Intl's.
        const isTime = path === 'src/admin/pages/format.ts' && text.includes('{a}');
        if (isText(text) && isShown && !isTime && !ROUTE.test(text))
          found.push({ text: asShown(text, path), at: path });
      }
    const isPart =
      isWhole ||
      (isTaken &&
        (isParenthesizedExpression(node) ||
          isConditionalExpression(node) ||
          node.kind === SyntaxKind.TemplateSpan));
    // What a case compares with is a code.
    const compared = isCaseClause(node) ? node.expression : undefined;
    const isSchema = isCallExpression(node) && SCHEMAS.test(node.expression.getText(source));
    node.forEachChild((child) => {
      if (child !== compared && !(isSchema && isOneText(child))) visit(child, isPart);
    });
  };
  source.forEachChild((child) => visit(child, false));
  return found;
}

/** @param root of the project, whose tsconfig.json says what belongs to it */
export function textsOfSources(root: string): Found[] {
  const api = new API({ cwd: root });
  try {
    const snapshot = api.updateSnapshot({ openProject: join(root, 'tsconfig.json') });
    const program = snapshot.getProjects()[0]?.program;
    if (program === undefined) throw new TypeError('tsconfig.json opens no project');
    return program.getSourceFileNames().flatMap((name) => {
      const path = relative(root, name).replaceAll('\\', '/');
      const source = PAGES.test(path) || REFUSING.test(path) ? program.getSourceFile(name) : undefined;
      return source === undefined ? [] : textsIn(source, path);
    });
  } finally {
    api.close();
  }
}
