// HTML templates: every inserted value is escaped.

class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type { Html };

/** `undefined` and `false` render nothing, for conditions in templates. */
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
