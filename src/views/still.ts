// A page or a mail as it is shown in a gallery: the same HTML with nothing that acts. Its style sheets stand within, so that the
// scheme to be seen can be written into them: what a frame is told of the reader's preference differs between browsers.

import type { PageName } from './pages.ts';
import type { Language } from './strings.ts';
import type { Theme } from './theme.ts';

export interface StillPage {
  readonly template: PageName;
  /** The template's own; a sample's type has been checked where it is written. */
  readonly model: object;
  readonly language: Language;
  readonly theme: Theme;
}

export interface StillMail {
  /** As it is sent. */
  readonly html: string;
  /** The picture that it shows. */
  readonly logo: string | undefined;
}

const script = /<script\b[^>]*>.*?<\/script>/gs;
const acts = / autofocus(?=[\s>])|<meta http-equiv="refresh"[^>]*>/g;
/** A form without an address and fields without names send nothing, whatever became of the sandbox. */
const sends =
  /(?<=<form\b[^>]*?) (?:method|action)="[^"]*"|(?<=<(?:input|button)\b[^>]*?) (?:name|formaction)="[^"]*"/g;
const hidden = /<input type="hidden"[^>]*>/g;
const styleSheet = /<link rel="stylesheet" href="([^"]*)">/g;
const darkQuery = /\(prefers-color-scheme:\s*dark\)/g;

interface Options {
  readonly nonce: string;
  readonly scheme: 'light' | 'dark';
  /** The text of a style sheet by its address; undefined where it is none of ours. */
  readonly styleSheet: (address: string) => string | undefined;
}

/** @returns the HTML without scripts, with nothing to reach by keyboard or pointer, in one colour scheme */
export function still(html: string, { nonce, scheme, styleSheet: textOf }: Options): string {
  return (
    html
      .replace(script, '')
      .replace(acts, '')
      .replace(hidden, '<input type="hidden">')
      .replace(sends, '')
      .replace(styleSheet, (_, address: string) => `<style nonce="${nonce}">${textOf(address) ?? ''}</style>`)
      // Conditions that hold always, and never, wherever a media query may have one.
      .replace(darkQuery, scheme === 'dark' ? '(min-width:0)' : '(max-width:0)')
      .replace(/(color-schemes?"? content="|color-scheme:\s*)light dark/g, `$1${scheme}`)
      .replace('<body', '<body inert')
  );
}

/**
 * For a frame on a page of ours and nowhere else. Sandboxed by itself too, so that its address opened alone is no more than in
 * the frame; with our origin, which pictures of ours ask for, and which without scripts is of no use.
 * @param isMail the style of mails is in attributes
 */
export const stillPolicy = (nonce: string, isMail: boolean): string =>
  [
    'sandbox allow-same-origin',
    "default-src 'none'",
    `style-src ${isMail ? "'unsafe-inline'" : `'nonce-${nonce}'`}`,
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join('; ');
