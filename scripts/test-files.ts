// Which files `npm test` starts (scripts/check.sh): those that its arguments name, in programs that run several of them one after
// the other. A process for each file would spend more than half of its time on loading the product and on code that is not warm.
// A file that measures its process, or changes what the others in it see, says so in its first comment: OWN_PROCESS.
import { globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';

const project = fileURLToPath(new URL('..', import.meta.url));
const OWN_PROCESS = 'A process of its own';
/** They wait for programs, browsers and mails: begun first and few at a time, so that no core is without work at the end. */
const SLOW = ['browser', 'faults', 'processes', 'flows-on', 'scripts', 'pages', 'store', 'mail'];
const TOGETHER = { slow: 4, quick: 10 };

const testFiles = globSync('test/**/*.test.ts', { cwd: project }).sort();

/** What a file says of itself before anything else. */
function firstComment(file: string): string {
  const lines = readFileSync(join(project, file), 'utf8').split('\n');
  const end = lines.findIndex((line) => !line.startsWith('//'));
  return lines.slice(0, end).join('\n');
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** @returns those in the folder or area of that name; where there is none, those with the word in their path or first comment */
function named(name: string): string[] {
  const path = relative(project, join(project, name));
  if (isFile(join(project, path))) return [path];
  for (const folder of [path, join('test', path)]) {
    const inside = testFiles.filter((file) => file.startsWith(`${folder}/`));
    if (inside.length > 0) return inside;
  }
  const word = name.toLowerCase();
  return testFiles.filter((file) => `${file}\n${firstComment(file)}`.toLowerCase().includes(word));
}

const areaOf = (file: string): string => relative('test', file).split('/')[0] ?? '';

/** One after the other, those that wait first. */
function programsOf(files: readonly string[]): string[][] {
  const own = files.filter((file) => firstComment(file).includes(OWN_PROCESS));
  const shared = files.filter((file) => !own.includes(file));
  const slow = SLOW.flatMap((area) => shared.filter((file) => areaOf(file) === area));
  const quick = shared.filter((file) => !slow.includes(file));
  return [...inTurns(slow, TOGETHER.slow), ...own.map((file) => [file]), ...inTurns(quick, TOGETHER.quick)];
}

function inTurns(files: readonly string[], most: number): string[][] {
  const size = Math.ceil(files.length / Math.ceil(files.length / most));
  return Array.from({ length: Math.ceil(files.length / most) }, (_, turn) =>
    files.slice(turn * size, (turn + 1) * size),
  );
}

/**
 * A suite for each file, since hooks are its suite's. A file is loaded when the one before has ended: what it makes as it is loaded
 * (a code, a recent sign-in) does not get old meanwhile.
 */
const programOf = (files: readonly string[]): string => `import { after, describe } from 'node:test';
async function run(name, file) {
  const { promise: over, resolve } = Promise.withResolvers();
  describe(name, async () => {
    after(resolve);
    await import(file).catch((error) => {
      resolve();
      throw error;
    });
  });
  await over;
}
${files.map((file) => `await run('${file}', '${pathToFileURL(join(project, file))}');`).join('\n')}
`;

function refuse(name: string): never {
  const areas = [...new Set(testFiles.map(areaOf))].filter((area) => !area.endsWith('.ts'));
  process.stderr.write(`latchkey: no test file matches '${name}'. Give a file, a folder, a word of its path or first comment, or one \
of: ${areas.join(' ')}\n`);
  process.exit(2);
}

const [folder, ...names] = process.argv.slice(2);
if (folder === undefined) throw new Error('Give a folder for the programs, then names of tests.');
const wanted = new Set<string>();
for (const name of names) {
  const files = named(name);
  if (files.length === 0) refuse(name);
  for (const file of files) wanted.add(file);
}
for (const [turn, files] of programsOf([...wanted]).entries())
  writeFileSync(join(folder, `${String(turn).padStart(3, '0')}.mjs`), programOf(files));
