// `node scripts/places.ts NAME`: the product files that a name of a fact occurs in. `node scripts/places.ts --lower` takes off
// test/model/places.txt what is no longer there; it never adds anything.
import { readFileSync, writeFileSync } from 'node:fs';
import { lineOf, placesOf, roomsOf, rulesIn } from './places/count.ts';

const [, , asked = ''] = process.argv;
if (asked === '--lower') {
  const file = new URL('../test/model/places.txt', import.meta.url);
  const lines = [...rulesIn(readFileSync(file, 'utf8'))].map(([name, listed]) => {
    const now = roomsOf(name);
    return lineOf(
      name,
      new Map([...listed].map(([room, count]) => [room, Math.min(count, now.get(room) ?? 0)])),
    );
  });
  writeFileSync(file, `${lines.filter((line) => line.includes(' ')).join('\n')}\n`);
} else console.log(placesOf(asked).join('\n'));
