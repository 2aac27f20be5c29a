// The content of a list cell or of an item's property, rendered by templates/admin/parts.njk. A string is text of this product.
import type { PageText } from '../../phrase.ts';

export interface Name {
  readonly label: string;
  /** Below /admin; absent when there is no such page. */
  readonly href?: string;
  /** A word of this product, not a user's: in the language of the page. */
  readonly isOurs?: boolean;
}

export type Part =
  | string
  | { readonly kind: 'text' | 'code'; readonly text: string }
  | { readonly kind: 'unseen'; readonly text: PageText }
  | { readonly kind: 'badge'; readonly text: string; readonly tone: string }
  | { readonly kind: 'when' | 'stamp'; readonly at: string | null }
  | { readonly kind: 'small'; readonly parts: readonly Part[]; readonly look: string }
  | { readonly kind: 'link'; readonly path: string; readonly parts: readonly Part[]; readonly look: string };

/** Text written by users: its direction can differ. */
export const text = (of: string): Part => ({ kind: 'text', text: of });
export const code = (of: string): Part => ({ kind: 'code', text: of });
/** For screen readers only. */
export const unseen = (of: PageText): Part => ({ kind: 'unseen', text: of });
export const badge = (words: string, tone: '' | 'good' | 'warn' | 'bad' | 'strong' = ''): Part => ({
  kind: 'badge',
  text: words,
  tone,
});
export const when = (at: string | null): Part => ({ kind: 'when', at });
/** Shows the full timestamp. */
export const stamp = (at: string | null): Part => ({ kind: 'stamp', at });
/** On a separate line below. */
export const small = (parts: readonly Part[], look = ''): Part => ({ kind: 'small', parts, look });
/** @param path below /admin */
export const link = (path: string, ...parts: readonly Part[]): Part => ({
  kind: 'link',
  path,
  parts,
  look: '',
});
/** The link to a row's page: the whole row is clickable. */
export const rowLink = (path: string, of: string): Part => ({
  kind: 'link',
  path,
  parts: [text(of)],
  look: 'row',
});
export const named = ({ label, href }: Name): Part =>
  href === undefined ? text(label) : link(href, text(label));
