// The page model of a test sign-in's outcome: the result, decoded tokens with a description of each claim, and the requests
// in order. Signatures and refresh tokens are left out, so that nothing on the page can be used as a credential.

import { isMembers } from '../../json.ts';
import type { Answer } from '../../oidc/index.ts';
import { curlOf, quote } from '../pages/curl.ts';
import { textOf, textsOf } from '../pages/field-values.ts';
import type { Values } from '../pages/page.ts';
import { clientAuthenticationOf, MASKED } from '../resources/clients/authentication.ts';
import { claimMeaning, claimOrder, errorMeaning } from './claim-meanings.ts';
import { asRegistered, errorOf, memberOf, objectOf, type TestSignInReport } from './run.ts';

export interface Claim {
  readonly name: string;
  readonly value: string;
  /** RFC 3339, where the value is a time. */
  readonly at: string | undefined;
  readonly meaning: string;
}

interface Named {
  readonly name: string;
  readonly value: string;
}

interface Step {
  readonly title: string;
  readonly about: string;
  readonly request: string;
  readonly headers: readonly Named[];
  readonly parameters: readonly Named[];
  readonly status: string;
  readonly isBad: boolean;
  readonly response: string;
  readonly curl?: string | undefined;
}

const TIMES = new Set(['exp', 'iat', 'nbf', 'auth_time', 'updated_at']);
const LATEST_SECONDS = 8_640_000_000_000;

export const claimsIn = (values: Values): Claim[] =>
  Object.entries(values)
    .sort(([one], [other]) => claimOrder(one) - claimOrder(other))
    .map(([name, value]) => {
      const isTime = TIMES.has(name) && typeof value === 'number' && Math.abs(value) < LATEST_SECONDS;
      return {
        name,
        value: typeof value === 'string' ? value : JSON.stringify(value),
        at: isTime ? new Date(value * 1000).toISOString() : undefined,
        meaning: claimMeaning(name),
      };
    });

type Started = TestSignInReport['started'];

const partOf = (text: string | undefined, started: Started): Values =>
  objectOf(asRegistered(Buffer.from(text ?? '', 'base64url').toString('utf8'), started)) ?? {};

interface Decoded {
  readonly header: readonly Claim[];
  readonly claims: readonly Claim[];
}

function decode(jwt: string | undefined, started: Started): Decoded | undefined {
  const parts = jwt?.split('.') ?? [];
  if (parts.length !== 3) return undefined;
  return { header: claimsIn(partOf(parts[0], started)), claims: claimsIn(partOf(parts[1], started)) };
}

const jsonOf = (value: unknown): string => JSON.stringify(value, undefined, 2);

const TOKENS = ['access_token', 'id_token', 'refresh_token'];

/** The response body as text, with usable tokens masked. */
function bodyOf({ body }: Answer): string {
  const content = objectOf(body);
  if (content === undefined) return body.split('.').length === 3 ? '(a signed JWT, decoded above)' : body;
  const masked = Object.entries(content).map(([name, value]) => [
    name,
    TOKENS.includes(name) ? '••••••••' : value,
  ]);
  return jsonOf(Object.fromEntries(masked));
}

const reasons: Readonly<Record<number, string>> = {
  200: 'OK',
  303: 'See Other',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};
const statusOf = (status: number): string => `${status} ${reasons[status] ?? ''}`.trim();

const pairsOf = (parameters: URLSearchParams): Named[] =>
  [...parameters].map(([name, value]) => ({ name, value }));

/** How a token that is bound to a key is asked for and shown (RFC 9449 §5, §7.1), or one that is not. */
function bindingOf(token: Answer | undefined) {
  const isBound = memberOf(token, 'token_type') === 'DPoP';
  return {
    scheme: isBound ? 'DPoP' : 'Bearer',
    proof: isBound ? [{ name: 'DPoP', value: MASKED }] : [],
    proofOption: isBound ? ['-H "DPoP: $DPOP_PROOF"'] : [],
  };
}

function userinfoStep(userinfo: Answer, token: Answer | undefined, issuer: string): Step {
  const { scheme, proof, proofOption } = bindingOf(token);
  return {
    title: 'Userinfo request',
    about: 'The response for this access token.',
    request: `GET ${issuer}/userinfo`,
    headers: [{ name: 'Authorization', value: `${scheme} ${MASKED}` }, ...proof],
    parameters: [],
    status: statusOf(userinfo.status),
    isBad: userinfo.status !== 200,
    response: bodyOf(userinfo),
    curl: curlOf(`${issuer}/userinfo`, `-H "Authorization: ${scheme} $ACCESS_TOKEN"`, ...proofOption),
  };
}

function stepsOf(report: TestSignInReport, client: Values, issuer: string): readonly Step[] {
  const { started, answer, token, userinfo, introspection } = report;
  const { headers, parameters, options, canAsk } = clientAuthenticationOf(client);
  const [own = ''] = textsOf(client.redirect_uris);
  const redirectUri = started.query.get('redirect_uri') ?? '';
  const { proof, proofOption } = bindingOf(token);
  const steps: Step[] = [
    {
      title: 'Authorization request',
      about:
        'The application sends the browser here. It uses its own redirect_uri instead of the one of this test.',
      request: `GET ${issuer}/authorize`,
      headers: [],
      parameters: pairsOf(started.query),
      status: statusOf(303),
      isBad: answer.has('error'),
      response: pairsOf(answer)
        .map(({ name, value }) => `${name}: ${value}`)
        .join('\n'),
    },
  ];
  if (token !== undefined) {
    const fields = {
      code: answer.get('code') ?? '',
      redirect_uri: redirectUri,
      code_verifier: started.verifier,
    };
    steps.push({
      title: 'Token request',
      about:
        'The application redeems the code. This test did it without the secret, because only its digest is stored.',
      request: `POST ${issuer}/token`,
      headers: [...headers, ...proof],
      parameters: [
        { name: 'grant_type', value: 'authorization_code' },
        ...Object.entries(fields).map(([name, value]) => ({ name, value })),
        ...parameters,
      ],
      status: statusOf(token.status),
      isBad: token.status !== 200,
      response: bodyOf(token),
      curl: curlOf(
        `${issuer}/token`,
        ...options,
        ...proofOption,
        '-d grant_type=authorization_code',
        '--data-urlencode "code=$CODE"',
        `--data-urlencode ${quote(`redirect_uri=${own}`)}`,
        '--data-urlencode "code_verifier=$CODE_VERIFIER"',
      ),
    });
  }
  if (userinfo !== undefined) steps.push(userinfoStep(userinfo, token, issuer));
  if (introspection !== undefined && canAsk) {
    steps.push({
      title: 'Introspection request',
      about: 'How the application, or a server that it calls, asks whether the token still counts.',
      request: `POST ${issuer}/introspect`,
      headers,
      parameters: [{ name: 'token', value: MASKED }, ...parameters],
      status: statusOf(200),
      isBad: introspection.active !== true,
      response: jsonOf(introspection),
      curl: curlOf(`${issuer}/introspect`, ...options, '--data-urlencode "token=$ACCESS_TOKEN"'),
    });
  }
  return steps;
}

/** @param client as the API returns it; undefined when it was deleted meanwhile */
export function outcomeOf(report: TestSignInReport, client: Values, issuer: string) {
  const { started, answer, token, userinfo, introspection } = report;
  const error = errorOf(report);
  const idToken = memberOf(token, 'id_token');
  const accessToken = memberOf(token, 'access_token');
  const idClaims = idToken === undefined ? {} : partOf(idToken.split('.')[1], started);
  const ownUserinfo =
    userinfo === undefined
      ? undefined
      : (objectOf(userinfo.body) ?? partOf(userinfo.body.split('.')[1], started));
  const chosen = new Set(['resource', 'scope', 'prompt', 'acr_values', 'login_hint', 'ui_locales']);
  const again = new URLSearchParams([...started.query].filter(([name]) => chosen.has(name)));
  return {
    failure:
      error === undefined
        ? undefined
        : {
            error,
            description:
              (token === undefined
                ? answer.get('error_description')
                : memberOf(token, 'error_description')) ?? '',
            meaning: errorMeaning(error),
            place: token === undefined ? 'authorization endpoint' : 'token endpoint',
          },
    person: textOf(idClaims, 'preferred_username') || textOf(idClaims, 'sub'),
    isNonceRight: idClaims.nonce === started.query.get('nonce'),
    idToken: decode(idToken, started),
    accessToken: decode(accessToken, started),
    hasRefreshToken: memberOf(token, 'refresh_token') !== undefined,
    introspection: isMembers(introspection) ? claimsIn(introspection) : undefined,
    userinfo: ownUserinfo && claimsIn(ownUserinfo),
    steps: stepsOf(report, client, issuer),
    again: again.toString(),
  };
}
