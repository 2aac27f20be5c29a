// `npm run docs`: writes the generated documents under docs/.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { generatedDocuments } from './docs/generated.ts';

for (const { file, render } of generatedDocuments) {
  const address = new URL(`../${file}`, import.meta.url);
  const content = render();
  const isCurrent = existsSync(address) && readFileSync(address, 'utf8') === content;
  mkdirSync(new URL('.', address), { recursive: true });
  if (!isCurrent) writeFileSync(address, content);
  console.log(`${file}: ${isCurrent ? 'up to date' : 'written'}`);
}
