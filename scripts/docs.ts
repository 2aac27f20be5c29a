// `npm run docs`: writes the generated documents under docs/.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isHelpAsked, runCommand } from './command-line.ts';
import { generatedDocuments } from './docs/generated.ts';

const HELP = `Writes the generated documents under docs/ anew, from the code that they describe.

Usage: npm run docs

Exit codes: 0 written or up to date, 2 invalid options.`;

function writeAll(): void {
  for (const { file, render } of generatedDocuments) {
    const address = new URL(`../${file}`, import.meta.url);
    const content = render();
    const isCurrent = existsSync(address) && readFileSync(address, 'utf8') === content;
    mkdirSync(new URL('.', address), { recursive: true });
    if (!isCurrent) writeFileSync(address, content);
    console.log(`${file}: ${isCurrent ? 'up to date' : 'written'}`);
  }
}

await runCommand(() => {
  if (isHelpAsked(process.argv.slice(2))) console.log(HELP);
  else writeAll();
  return undefined;
});
