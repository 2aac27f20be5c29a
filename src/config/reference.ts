// Owns the README's table of environment variables, rendered from the schema. scripts/config-reference.ts writes it,
// test/config/reference.test.ts holds the README equal to it.
import { type Variable, variables } from './schema.ts';

export const referenceStart = '<!-- config:start -->';
export const referenceEnd = '<!-- config:end -->';

const cell = (content: string): string => content.replaceAll('|', '\\|');

/** @returns a Markdown table, one row per variable, without a final line end */
export function renderReference(): string {
  const rows = Object.entries<Variable<unknown>>(variables).map(([name, variable]) => {
    const names = variable.isSecret === true ? `\`${name}\`, \`${name}_FILE\`` : `\`${name}\``;
    return `| ${names} | ${cell(variable.type)} | ${cell(variable.default)} | ${cell(variable.description)} |`;
  });
  return ['| variable | type | default | meaning |', '|---|---|---|---|', ...rows].join('\n');
}

/**
 * @param document a Markdown page with the two marker lines
 * @returns the page with a fresh table between them, or undefined when the markers are not there
 */
export function withReference(document: string): string | undefined {
  const start = document.indexOf(referenceStart);
  const end = document.indexOf(referenceEnd);
  if (start < 0 || end < start) return undefined;
  return `${document.slice(0, start + referenceStart.length)}\n${renderReference()}\n${document.slice(end)}`;
}
