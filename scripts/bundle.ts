// Builds the bundle of the product's processes into a folder: node scripts/bundle.ts FOLDER, two levels below the project.
// Files that the program reads stay where they are; scripts/bundled.sh says when the bundle is used (decision 24).
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: bundle.ts FOLDER');
const outdir = resolve(ROOT, folder);

/** Drivers that only some installations load, and native code. */
const EXTERNAL = ['argon2', 'bcryptjs', 'ioredis', 'mongodb'];

// In each file of the bundle: what packages written for `require` expect, and the address of a source by its path.
const BANNER = [
  "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);",
  `const sourceUrl = (path) => new URL('${relative(outdir, ROOT)}/' + path, import.meta.url).href;`,
  "const sourceFolder = (path) => process.getBuiltinModule('node:url').fileURLToPath(new URL('.', sourceUrl(path)));",
].join('\n');

/** A file of the bundle holds many sources, and each knows itself by its own address. */
const ownAddresses: Plugin = {
  name: 'own addresses',
  setup({ onLoad }) {
    onLoad({ filter: /\.(?:[cm]?js|ts)$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      if (!/\bimport\.meta\.url\b|\b__dirname\b/.test(text)) return undefined;
      const source = JSON.stringify(relative(ROOT, path));
      return {
        contents: text
          .replace(/\bimport\.meta\.url\b/g, `sourceUrl(${source})`)
          .replace(/\b__dirname\b/g, `sourceFolder(${source})`),
        loader: path.endsWith('.ts') ? 'ts' : 'js',
      };
    });
  },
};

/**
 * esbuild keeps names by naming each function when it is created, closures of a request too, which was a tenth of its processor
 * time. A closure has no name that anything reads, and most others have theirs already.
 */
const NAMING = 'var __name = (target, value) => __defProp(target, "name", { value, configurable: true });';
const NAMING_WHERE_NEEDED = NAMING.replace(
  '=> __defProp',
  '=> target.name === "" || target.name === value ? target : __defProp',
);

const { outputFiles, metafile } = await build({
  absWorkingDir: ROOT,
  entryPoints: ['src/main.ts', 'src/worker.ts'],
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  // oidc-provider stores the names of constructors.
  keepNames: true,
  external: EXTERNAL,
  plugins: [ownAddresses],
  banner: { js: BANNER },
  legalComments: 'none',
  logLevel: 'error',
  write: false,
  metafile: true,
});

/**
 * Node finds the names that a package for `require` exports; in a file of the bundle such a package has `default` alone, so that a
 * name taken from it would be undefined when somebody needs it.
 */
function checkLateNames(): void {
  const exported = new Map(
    Object.entries(metafile.outputs).map(([file, { exports }]) => [basename(file), new Set(exports)]),
  );
  for (const { text } of outputFiles) {
    for (const [, names = '', file = ''] of text.matchAll(/\{([^{}]*)\} = await import\("\.\/([^"]+)"\)/g)) {
      const missing = names
        .split(',')
        .map((name) => name.split(':', 1)[0]?.trim() ?? '')
        .filter((name) => name !== '' && exported.get(file)?.has(name) !== true);
      if (missing.length > 0)
        throw new Error(`the bundle's ${file} has no ${missing.join(', ')}: import default`);
    }
  }
}
checkLateNames();

await mkdir(outdir, { recursive: true });
for (const { path, text } of outputFiles) await writeFile(path, text.replace(NAMING, NAMING_WHERE_NEEDED));
if (!outputFiles.some(({ text }) => text.includes(NAMING)))
  throw new Error('esbuild names functions otherwise now');
