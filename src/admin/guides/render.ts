// Renders a guide's template with the values of an application, and reads its steps from the Markdown that comes out: headings,
// paragraphs, blocks of code below the name of their file, and tables of fields.
import { createEnvironment } from '../../views/index.ts';
import { quote } from '../pages/curl.ts';
import type { Guide, GuideValues } from './guide.ts';

export interface Block {
  /** Where the lines belong; a shell's lines have none. */
  readonly file?: string;
  readonly language: string;
  readonly code: string;
}

export interface Step {
  readonly title: string;
  readonly text?: string;
  readonly blocks: readonly Block[];
  /** What is typed into a form of the product. */
  readonly fields: readonly (readonly [label: string, value: string])[];
}

/** How each kind of language writes a text, so that no value becomes code. */
const filters: Readonly<Record<string, (value: unknown) => string>> = {
  // JavaScript, Python, Go, Rust, Java, C#, Swift, YAML and TOML.
  text: (value) => JSON.stringify(String(value)),
  // Kotlin and Gradle: a dollar sign begins a value.
  dollar: (value) => JSON.stringify(String(value)).replaceAll('$', '\\$'),
  // Ruby and PHP in single quotes, where nothing but these two is special.
  plain: (value) => `'${String(value).replace(/[\\']/g, '\\$&')}'`,
  dart: (value) => `'${String(value).replace(/[\\'$]/g, '\\$&')}'`,
  ini: (value) =>
    /^[\w.:/@?&=%+-]+$/.test(String(value))
      ? String(value)
      : `"""${String(value).replaceAll('"""', "'''")}"""`,
  quote: (value) => quote(String(value)),
  xml: (value) => String(value).replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`),
};

let environment: ReturnType<typeof createEnvironment> | undefined;

function rendered(guide: Guide, values: GuideValues): string {
  if (environment === undefined) {
    environment = createEnvironment({ isHtml: false });
    for (const [name, filter] of Object.entries(filters)) environment.addFilter(name, filter);
  }
  const { redirectUri, origin } = values;
  const url = URL.parse(redirectUri);
  return environment.render(`guides/${guide.id}.njk`, {
    ...values,
    redirectPath: url?.pathname ?? '/',
    scheme: redirectUri.split(':', 1)[0] ?? '',
    host: URL.parse(origin)?.hostname ?? 'app.example.com',
    port: (URL.parse(origin)?.port || URL.parse(guide.origin)?.port) ?? '',
    isPlain: values.issuer.startsWith('http:'),
  });
}

const FENCE = /(?:\*\*([^*\n]+)\*\*\n\n)?```(\w+)\n([\s\S]*?)\n```(?:\n|$)/g;
const FIELD = /^\| ([^|]+) \| `(.*)` \|$/gm;

function stepOf(section: string): Step {
  const [title = '', ...rest] = section.split('\n');
  const body = rest.join('\n');
  const blocks = [...body.matchAll(FENCE)].map(([, file, language = '', code = '']) => ({
    ...(file !== undefined && { file }),
    language,
    code,
  }));
  const fields = [...body.replace(FENCE, '').matchAll(FIELD)].map(
    ([, label = '', value = '']) => [label, value] as const,
  );
  const text = body
    .replace(FENCE, '')
    .replace(/^\|.*$/gm, '')
    .trim();
  return { title, ...(text !== '' && { text }), blocks, fields };
}

/** As a page of docs/guides/ has it. */
export const guideMarkdown = rendered;

export const stepsOf = (guide: Guide, values: GuideValues): readonly Step[] =>
  // A heading begins a line outside of code; in code, two number signs begin none of our lines.
  rendered(guide, values).split(/^## /m).slice(1).map(stepOf);
