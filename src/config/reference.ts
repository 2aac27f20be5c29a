import { type Variable, variables } from './schema.ts';

const cell = (content: string): string => content.replaceAll('|', '\\|');

/** @returns a Markdown table, one row per variable, without a final line end */
export function renderReference(): string {
  const rows = Object.entries<Variable<unknown>>(variables).map(([name, variable]) => {
    const names = variable.isSecret === true ? `\`${name}\`, \`${name}_FILE\`` : `\`${name}\``;
    return `| ${names} | ${cell(variable.type)} | ${cell(variable.default)} | ${cell(variable.description)} |`;
  });
  return ['| variable | type | default | meaning |', '|---|---|---|---|', ...rows].join('\n');
}
