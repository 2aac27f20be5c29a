// Pages without a signed-in user: connecting the sample, signing in, errors.
import type { Notice } from './browsers.ts';
import { type Html, html } from './html.ts';
import { layout, noticeBox, postButton, problemBox } from './layout.ts';
import type { Problem } from './problem.ts';

interface Place {
  readonly issuer: URL;
  readonly redirectUri: string;
  readonly homeUri: string;
}

/** Latchkey's page for applications is next to its issuer; another provider's is unknown. */
function adminPage(issuer: URL): string | undefined {
  return issuer.pathname.endsWith('/oauth2') ? issuer.href.replace(/oauth2$/, 'admin') : undefined;
}

const copyRow = (id: string, label: string, value: string): Html => html`<dt>${label}</dt>
<dd><code id="${id}">${value}</code><button class="copy" type="button" data-copy="${id}" aria-label="Copy: ${label}" hidden>Copy</button></dd>`;

export function setupPage(
  { issuer, redirectUri, homeUri }: Place,
  { clientId = '', problem }: { clientId?: string | undefined; problem?: Problem | undefined } = {},
): Html {
  const admin = adminPage(issuer);
  return layout(
    'Connect',
    html`<h1>Connect this application</h1>
<p class="lead">It will sign people in with <b>${issuer.host}</b>.</p>
<ol class="steps">
<li><h2>Register it</h2>
<p>${
      admin === undefined
        ? html`At the provider, add an application with these values.`
        : html`Under <b>Add an application</b> on the <a href="${admin}" target="_blank" rel="noopener">administrator’s page</a>, fill in these values. Leave the rest as it is.`
    }</p>
<dl class="values">
${copyRow('name', 'Name', 'Sample')}
${copyRow('redirect-uri', 'Redirect URI', redirectUri)}
${admin === undefined && copyRow('home-uri', 'Address after signing out', homeUri)}
</dl></li>
<li><h2>Enter what you got</h2>
${problem && problemBox(problem)}
<form class="fields" method="post" action="/connect">
<label for="client-id">Client ID</label>
<input id="client-id" name="client_id" value="${clientId}" required autocomplete="off" spellcheck="false" autocapitalize="none">
<label for="client-secret">Client secret</label>
<input id="client-secret" name="client_secret" type="password" autocomplete="off" aria-describedby="secret-hint">
<p class="hint" id="secret-hint">Kept in memory until the sample stops. Single-page and native apps have none.</p>
<button class="button primary">Connect</button>
</form></li>
</ol>`,
  );
}

const configured = (clientId: string | undefined): Html => html`<div class="foot">
<p>Client ID <code>${clientId}</code></p>${postButton('/forget', 'Use another one', 'link')}
</div>`;

export const signedOutPage = (
  { issuer, clientId }: { issuer: URL; clientId: string | undefined },
  notice: Notice | undefined,
): Html =>
  layout(
    'Home',
    html`${notice && noticeBox(notice, () => html``)}
<h1>You’re not signed in</h1>
<p class="lead">This application knows nothing about you yet. It asks <b>${issuer.host}</b> who you are.</p>
<a class="button primary" href="/sign-in">Sign in</a>
${configured(clientId)}`,
  );

interface Way {
  readonly label: string;
  readonly href: string;
}

export const problemPage = (title: string, problem: Problem, way: Way, clientId?: string): Html =>
  layout(
    title,
    html`<h1>${title}</h1>
${problemBox(problem)}
<a class="button primary" href="${way.href}">${way.label}</a>
${problem.kind === 'refused' && configured(clientId)}`,
  );
