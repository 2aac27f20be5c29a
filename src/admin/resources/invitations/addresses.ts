// Many addresses as people have them: one per line, between commas or semicolons, "Grace <grace@example.com>", or a CSV with
// names beside them.

export interface Given {
  /** The line that it is in; the first is 1. */
  readonly line: number;
  /** As it was given, whether it is an address or not. */
  readonly text: string;
}

const bare = (cell: string): string => {
  const trimmed = cell.trim().replaceAll(/^["']+|["']+$/g, '');
  const from = trimmed.lastIndexOf('<');
  return from >= 0 && trimmed.endsWith('>') ? trimmed.slice(from + 1, -1).trim() : trimmed;
};

const cellsOf = (line: string): string[] =>
  line
    .split(/[,;\t]/)
    .map(bare)
    .filter((cell) => cell !== '');

/** @returns in order; of a line with an address all that are none are taken for names, and `leftOut` */
export function readAddresses(text: string): { readonly given: Given[]; readonly leftOut: Given[] } {
  const leftOut: Given[] = [];
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  const given = lines.flatMap((line, at) => {
    const cells = cellsOf(line);
    const inLine = (text: string): Given => ({ line: at + 1, text });
    const isAddress = (word: string): boolean => word.includes('@');
    if (!cells.some(isAddress)) return cells.length === 0 ? [] : [inLine(line.trim())];
    // Without a comma between them.
    const words = cells.flatMap((cell) => (isAddress(cell) ? cell.split(/\s+/) : [cell]));
    leftOut.push(...words.filter((word) => !isAddress(word)).map(inLine));
    return words.filter(isAddress).map((word) => inLine(bare(word)));
  });
  // The names of the columns.
  const [first, ...rest] = given;
  const isHeading = first !== undefined && !first.text.includes('@') && /mail/i.test(first.text);
  return { given: isHeading && rest.length > 0 ? rest : given, leftOut };
}
