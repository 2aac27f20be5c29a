// `node scripts/places.ts NAME`: the product files that a name of a fact occurs in. `node scripts/places.ts --lower` writes lower
// ceilings into test/model/places.test.ts where there are fewer places now; it never raises one, and
// takes off the list what is as usual.
import { readFileSync, writeFileSync } from 'node:fs';
import { placesOf, rulesOf, USUAL } from './places/count.ts';

const [, , asked = ''] = process.argv;
if (asked === '--lower') {
  const file = new URL('../test/model/places.test.ts', import.meta.url);
  const lowered = readFileSync(file, 'utf8').replaceAll(/^(\w+) (\d+)\n/gm, (line, name: string, ceiling) => {
    const count = rulesOf(name).length;
    if (count <= USUAL) return '';
    return count < Number(ceiling) ? `${name} ${count}\n` : line;
  });
  writeFileSync(file, lowered);
} else console.log(placesOf(asked).join('\n'));
