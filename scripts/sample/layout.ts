// The layout of all pages of the sample: head, bar, main column, error box.
import type { Notice } from './browsers.ts';
import { type Content, type Html, html } from './html.ts';
import type { Problem } from './problem.ts';

interface Options {
  /** Beside the name, at the top. */
  readonly bar?: Content;
  readonly isWide?: boolean;
}

export const layout = (
  title: string,
  body: Content,
  { bar, isWide = false }: Options = {},
): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Sample application</title>
<link rel="icon" href="/sample.svg" type="image/svg+xml">
<link rel="stylesheet" href="/sample.css">
<script type="module" src="/sample.js"></script>
</head>
<body>
<header class="bar"><a class="brand" href="/"><img src="/sample.svg" alt="" width="28" height="28">Sample application</a>${bar}</header>
<main${isWide && html` class="wide"`}>
${body}
</main>
</body>
</html>
`;

export const postButton = (action: string, label: string, kind = ''): Html =>
  html`<form method="post" action="${action}"><button class="button ${kind}">${label}</button></form>`;

export const problemBox = (problem: Problem): Html => html`<div class="notice problem" role="alert">
<p>${problem.message}</p>
${problem.advice !== undefined && html`<p>${problem.advice}</p>`}
${problem.code !== undefined && html`<p class="hint">Error code <code>${problem.code}</code></p>`}
</div>`;

export const noticeBox = ({ text, isProblem, answer }: Notice, table: (answer: object) => Html): Html =>
  html`<div class="notice ${isProblem && 'problem'}" role="status">
<p>${text}</p>
${answer && table(answer)}
</div>`;
