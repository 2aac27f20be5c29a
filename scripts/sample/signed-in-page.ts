// The page of a signed-in user: what the provider returned, and what can be done with it.
import type { Notice } from './browsers.ts';
import { type Html, html } from './html.ts';
import { layout, noticeBox, postButton, problemBox } from './layout.ts';
import { Problem } from './problem.ts';
import type { Tokens } from './sign-in.ts';
import { type Claims, factsOf, timeOf } from './token-facts.ts';

interface Model {
  readonly tokens: Tokens;
  /** The current response of the userinfo endpoint. */
  readonly userinfo: Claims | Problem;
  readonly notice: Notice | undefined;
  readonly issuer: URL;
  readonly canIntrospect: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
}

const valueText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Breaks long names at natural places. */
const breakable = (name: string): Html[] =>
  name.split('_').map((part, index) => (index === 0 ? html`${part}` : html`_<wbr>${part}`));

const claimsTable = (claims: object, now: number): Html => html`<table class="claims"><tbody>
${Object.entries(claims).map(
  ([name, value]) => html`<tr><th scope="row">${breakable(name)}</th><td>${valueText(value)}${
    timeOf(name, value, now) !== undefined && html` <small>${timeOf(name, value, now)}</small>`
  }</td></tr>
`,
)}</tbody></table>`;

const panel = (title: string, about: string, body: Html): Html => html`<section class="panel">
<h2>${title}</h2>
<p class="hint">${about}</p>
${body}
</section>`;

const nameOf = (claims: Claims): string => {
  const known = [claims.name, claims.given_name, claims.preferred_username, claims.email, claims.sub];
  return valueText(known.find((value) => typeof value === 'string' && value !== '') ?? '');
};

function accessTokenPanel(token: string, now: number): Html {
  const { claims, header } = factsOf(token);
  const about = 'Meant for APIs. They check the signature, or ask by introspection.';
  if (claims === undefined) return panel('Access token', about, html`<p>It is opaque.</p>`);
  return panel('Access token', `${about} Signed with ${valueText(header.alg)}.`, claimsTable(claims, now));
}

export function signedInPage({ tokens, userinfo, notice, issuer, canIntrospect, now }: Model): Html {
  const { header } = factsOf(tokens.idToken);
  return layout(
    'Signed in',
    html`<h1>Hello, <bdi>${nameOf(tokens.idClaims)}</bdi></h1>
<p class="lead">You’re signed in with <b>${issuer.host}</b>.</p>
${notice && noticeBox(notice, (answer) => claimsTable(answer, now))}
<div class="actions" role="group" aria-label="What to try">
${tokens.refreshToken !== undefined && postButton('/refresh', 'Refresh')}
${canIntrospect && postButton('/introspect', 'Introspect')}
${postButton('/revoke?token=access', 'Revoke access token')}
${tokens.refreshToken !== undefined && postButton('/revoke?token=refresh', 'Revoke refresh token')}
<a class="button" href="/sign-in?prompt=login">Ask for the password again</a>
</div>
<div class="panels">
${panel('ID token', `Who signed in, how and when. Signed with ${valueText(header.alg)}, verified.`, claimsTable(tokens.idClaims, now))}
<div>
${accessTokenPanel(tokens.accessToken, now)}
${panel(
  'Userinfo',
  'The provider’s current response to the access token.',
  userinfo instanceof Problem ? problemBox(userinfo) : claimsTable(userinfo, now),
)}
</div>
</div>`,
    { bar: postButton('/sign-out', 'Sign out', 'primary'), isWide: true },
  );
}
