// Reads from a page where it continues without scripts: links and forms of its main part, in page order.
export interface WayOn {
  readonly label: string;
  /** Path and query below this provider, or an address elsewhere; undefined for a button of a form. */
  readonly url: string | undefined;
}

const unescapeHtml = (text: string): string =>
  text.replace(/&amp;/g, '&').replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));

const textOf = (html: string): string =>
  unescapeHtml(html.replace(/<[^>]*>/g, ' '))
    .replace(/\s+/g, ' ')
    .trim();

/** Without what needs a script, and without the help and privacy links of the footer. */
export function waysOn(html: string): WayOn[] {
  const [, main = ''] = /<main[^>]*>([\s\S]*)<\/main>/.exec(html) ?? [];
  const parts = [...main.matchAll(/<(a|button)\b([^>]*)>([\s\S]*?)<\/\1>/g)];
  return parts.flatMap(([, tag, attributes = '', inner = '']): WayOn[] => {
    if (/\shidden(?:\s|$)|target="_blank"|type="button"/.test(attributes)) return [];
    const [, href] = /href="([^"]*)"/.exec(attributes) ?? [];
    if (tag === 'a' && !href) return [];
    // An icon alone is named by its attribute.
    const [, named = ''] = /\saria-label="([^"]*)"/.exec(attributes) ?? [];
    return [
      {
        label: textOf(inner) || unescapeHtml(named),
        url: href === undefined ? undefined : unescapeHtml(href),
      },
    ];
  });
}
