// The guides for applications in browsers: their lines as the Admin UI shows them, built as build tools do, in Chromium.
import { deepEqual } from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { build, type Plugin } from 'esbuild';
import type { Browser } from 'playwright-core';
import { launch } from '../../pages/browser.ts';
import { type GuideName, useGuide } from '../support/guide.ts';
import { type Issuer, PERSON, startIssuer } from '../support/issuer.ts';
import { installPackages } from '../support/packages.ts';

const installed = await installPackages(new URL('guides/', import.meta.url), 'browser-guides', ['chromium']);

let browser: Browser;
let issuer: Issuer;
const folder = mkdtempSync(join(tmpdir(), 'latchkey-guides-'));
before(async () => {
  if (installed.skip !== false) return;
  [browser, issuer] = await Promise.all([launch(), startIssuer()]);
});
after(async () => {
  await browser?.close();
  await issuer?.close();
  rmSync(folder, { recursive: true });
});

const fromThere = createRequire(join(installed.folder, 'package.json'));

/** Single-file components by the compilers that their frameworks bring. */
const components: Plugin = {
  name: 'components',
  setup(builder) {
    builder.onLoad({ filter: /\.vue$/ }, ({ path }) => {
      const { parse, compileScript } = fromThere('vue/compiler-sfc');
      const { descriptor } = parse(readFileSync(path, 'utf8'));
      const { content } = compileScript(descriptor, { id: 'app', inlineTemplate: true });
      return { contents: content, loader: 'js' };
    });
    builder.onLoad({ filter: /\.svelte$/ }, ({ path }) => {
      const { compile } = fromThere('svelte/compiler');
      const { js } = compile(readFileSync(path, 'utf8'), { generate: 'client', css: 'injected' });
      return { contents: js.code, loader: 'js' };
    });
  },
};

/** What a template of the framework has beside the guide's files. */
const MAINS: Readonly<Record<string, { readonly main: string; readonly code?: string }>> = {
  javascript: { main: 'src/main.js' },
  react: { main: 'src/main.jsx' },
  vue: {
    main: 'src/main.js',
    code: "import { createApp } from 'vue';\nimport App from './App.vue';\ncreateApp(App).mount('#root');\n",
  },
  svelte: {
    main: 'src/main.js',
    code: "import { mount } from 'svelte';\nimport App from './App.svelte';\nmount(App, { target: document.getElementById('root') });\n",
  },
  angular: {
    main: 'src/main.ts',
    code: "import '@angular/compiler';\nimport { bootstrapApplication } from '@angular/platform-browser';\nimport { App } from './app/app';\nimport { appConfig } from './app/app.config';\nbootstrapApplication(App, appConfig);\n",
  },
};

async function check(name: GuideName, id: string): Promise<void> {
  const use = await useGuide(name, issuer);
  const own = join(folder, id);
  mkdirSync(own);
  symlinkSync(join(installed.folder, 'node_modules'), join(own, 'node_modules'));
  use.write(own);
  const { main, code } = MAINS[id] ?? { main: '' };
  if (code !== undefined) writeFileSync(join(own, main), code);
  const { outputFiles } = await build({
    absWorkingDir: own,
    entryPoints: [main],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'esnext',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    conditions: ['browser'],
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true, useDefineForClassFields: false } },
    plugins: [components],
    logLevel: 'silent',
  });
  const script = outputFiles[0]?.text ?? '';
  const site = createServer((request, response) => {
    const isScript = request.url === '/app.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(
      isScript
        ? script
        : `<!doctype html><title>${id}</title><link rel="icon" href="data:,"><body><div id="root"></div><app-root></app-root><script type="module" src="/app.js"></script></body>`,
    );
  }).listen(use.port, 'localhost');
  const context = await browser.newContext({ locale: 'en-GB' });
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  try {
    await page.goto(`${use.origin}/`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('Username or e-mail').fill(PERSON.username);
    await page.getByLabel('Password', { exact: true }).fill(PERSON.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.getByText('Hello, Grace Hopper').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(`${use.origin}/`);
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    deepEqual(complaints, []);
  } catch (error) {
    throw new Error(`at ${page.url()}\n${complaints.join('\n')}\n${issuer.refusals().join('')}`, {
      cause: error,
    });
  } finally {
    await context.close();
    site.closeAllConnections();
    site.close();
  }
}

test('guide: JavaScript', installed, () => check('guide:javascript', 'javascript'));
test('guide: React', installed, () => check('guide:react', 'react'));
test('guide: Vue', installed, () => check('guide:vue', 'vue'));
test('guide: Svelte', installed, () => check('guide:svelte', 'svelte'));
test('guide: Angular', installed, () => check('guide:angular', 'angular'));
