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

/** Where the provider sends the client ID to, once an administrator has registered the sample. */
export const REGISTERED_PATH = '/registered';

/**
 * Fills in Latchkey's form for a new application; an administrator sends it there.
 * @param state comes back with the client ID, and only to this browser
 */
function registrationLink({ issuer, redirectUri, homeUri }: Place, state: string): string | undefined {
  const admin = adminPage(issuer);
  if (admin === undefined) return undefined;
  const returnTo = new URL(REGISTERED_PATH, homeUri);
  returnTo.searchParams.set('state', state);
  // A program on the developer's own machine: it has no secret to carry over (RFC 8252).
  const values = { name: 'Sample', type: 'native', redirect_uris: redirectUri, return_to: returnTo.href };
  return `${admin}/applications/new?${new URLSearchParams(values)}`;
}

interface Setup {
  readonly state: string;
  readonly clientId?: string | undefined;
  readonly problem?: Problem | undefined;
}

export function setupPage(place: Place, { state, clientId = '', problem }: Setup): Html {
  const { issuer, redirectUri, homeUri } = place;
  const link = registrationLink(place, state);
  const steps = html`<ol class="steps">
<li><h2>Register it</h2>
<p>${
    link === undefined
      ? html`At the provider, add an application with these values.`
      : html`Under <b>Applications</b> on the <a href="${adminPage(issuer) ?? ''}" target="_blank" rel="noopener">administrator’s page</a>, register an application with these values. Leave the rest as it is.`
  }</p>
<dl class="values">
${copyRow('name', 'Name', 'Sample')}
${copyRow('redirect-uri', 'Redirect URI', redirectUri)}
${link === undefined && copyRow('home-uri', 'Address after signing out', homeUri)}
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
</ol>`;
  return layout(
    'Connect',
    html`<h1>Connect this application</h1>
<p class="lead">It will sign people in with <b>${issuer.host}</b>.</p>
${
  link === undefined
    ? steps
    : html`<a class="button primary" href="${link}">Register it at ${issuer.host}</a>
<p class="hint">Opens the form there, filled in. You check it and press the button.</p>
<details${problem && html` open`}><summary>Register it by hand, with a secret</summary>
${steps}
</details>`
}`,
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
