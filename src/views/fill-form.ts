// Puts submitted values back into the rendered form with the given action, after a sign-in interrupted it. Passwords are
// never filled in, hidden fields only where they identify the version that the form was rendered from.
import { escapeHtml } from './shown-text.ts';

export type Typed = Readonly<Record<string, string>>;

const unescapeHtml = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replace(/&#(\d{1,7});/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replaceAll('&amp;', '&');

/** Our templates quote every attribute and escape its value. */
function attributeOf(tag: string, name: string): string | undefined {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1];
  return value === undefined ? undefined : unescapeHtml(value);
}

const TEXT_TYPES = new Set([
  'text',
  'search',
  'email',
  'url',
  'number',
  'tel',
  'date',
  'time',
  'datetime-local',
]);

/** The version that the form was rendered from is kept, so that a concurrent change is still detected. */
const isVersion = (name: string): boolean => name === 'version' || name.startsWith('was.');

const withValue = (tag: string, value: string): string => {
  const bare = tag.replace(/\svalue="[^"]*"/, '');
  // A function, because `$` in a replacement string has a meaning.
  return bare.replace(/^<input/, () => `<input value="${escapeHtml(value)}"`);
};

const withFlag = (tag: string, flag: 'checked' | 'selected', isOn: boolean): string => {
  const bare = tag.replace(new RegExp(`\\s${flag}(?=[\\s>])`), '');
  return isOn ? bare.replace(/^<(input|option)/, (start) => `${start} ${flag}`) : bare;
};

function fillInput(tag: string, typed: Typed): string {
  const name = attributeOf(tag, 'name') ?? '';
  const type = attributeOf(tag, 'type') ?? 'text';
  const value = Object.hasOwn(typed, name) ? typed[name] : undefined;
  if (type === 'checkbox') return withFlag(tag, 'checked', value === (attributeOf(tag, 'value') ?? 'on'));
  if (value === undefined) return tag;
  if (type === 'radio') return withFlag(tag, 'checked', value === attributeOf(tag, 'value'));
  return TEXT_TYPES.has(type) || (type === 'hidden' && isVersion(name)) ? withValue(tag, value) : tag;
}

/** An option without a value has its text as one (HTML §4.10.10). */
const fillSelect = (html: string, value: string): string =>
  html.replace(/(<option\b[^>]*>)([^<]*)/g, (_, tag: string, text: string) => {
    const own = attributeOf(tag, 'value') ?? unescapeHtml(text.trim());
    return withFlag(tag, 'selected', own === value) + text;
  });

function fill(form: string, typed: Typed): string {
  const typedFor = (tag: string): string | undefined => {
    const name = attributeOf(tag, 'name') ?? '';
    return Object.hasOwn(typed, name) ? typed[name] : undefined;
  };
  return form
    .replace(/<input\b[^>]*>/g, (tag) => fillInput(tag, typed))
    .replace(/(<textarea\b[^>]*>)([\s\S]*?)(<\/textarea>)/g, (whole, start: string, _, end: string) => {
      const value = typedFor(start);
      // The HTML parser drops the first line break of a textarea.
      return value === undefined ? whole : `${start}\n${escapeHtml(value)}${end}`;
    })
    .replace(/<select\b[^>]*>[\s\S]*?<\/select>/g, (select) => {
      const value = typedFor(select.slice(0, select.indexOf('>') + 1));
      return value === undefined ? select : fillSelect(select, value);
    });
}

/** @param action as in the form: a path without host */
export function fillForm(html: string, action: string, typed: Typed): string {
  return html.replace(/<form\b[^>]*>[\s\S]*?<\/form>/g, (form) => {
    const start = form.slice(0, form.indexOf('>') + 1);
    if (attributeOf(start, 'action') !== action) return form;
    return fill(form, typed).replace('<form', '<form data-filled');
  });
}
