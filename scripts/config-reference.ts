// Owns writing the table of environment variables into README.md, between its two markers.
import { readFileSync, writeFileSync } from 'node:fs';
import { referenceEnd, referenceStart, withReference } from '../src/config/reference.ts';

const file = new URL('../README.md', import.meta.url);

function read(): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

const before = read();
const after = before === undefined ? undefined : withReference(before);
if (before === undefined || after === undefined) {
  console.error(
    `README.md needs the lines ${referenceStart} and ${referenceEnd}; the table goes between them.`,
  );
  process.exitCode = 1;
} else if (before === after) {
  console.log('README.md already tells every environment variable.');
} else {
  writeFileSync(file, after);
  console.log('README.md: the table of environment variables is fresh.');
}
