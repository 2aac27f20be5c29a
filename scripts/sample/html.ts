// Owns HTML as text that cannot be confused with other text: whatever is put into the template is escaped.

class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type { Html };

/** `undefined` and `false` leave nothing, so that a condition can stand in the template. */
export type Content = Html | string | number | false | undefined | readonly Content[];

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

function toText(content: Content): string {
  if (content === undefined || content === false) return '';
  if (content instanceof Html) return content.text;
  if (typeof content === 'object') return content.map(toText).join('');
  return escapeHtml(String(content));
}

/** A template tag: html`<b>${name}</b>`. */
export function html(parts: TemplateStringsArray, ...contents: readonly Content[]): Html {
  return new Html(parts.map((part, index) => part + toText(contents[index])).join(''));
}
