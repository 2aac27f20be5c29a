// Addresses that lead back to a page of ours, and what looks like one (CWE-601).
import { deepEqual, equal } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { createBackTo } from '../../src/http/back-to.ts';

const ROOT = join(import.meta.dirname, '../..');

test('back to: pages of ours, with their query and without what browsers resolve', () => {
  const backTo = createBackTo('https://id.example');
  for (const [asked, at] of [
    ['/', '/'],
    ['/admin/users?search=a%20b&page=2', '/admin/users?search=a%20b&page=2'],
    [
      '/admin/applications/https%3A%2F%2Fagent.example%2Fid',
      '/admin/applications/https%3A%2F%2Fagent.example%2Fid',
    ],
    ['/admin/../account', '/account'],
    ['/account#part', '/account'],
    ['/oauth2/login?to=//evil.example', '/oauth2/login?to=//evil.example'],
  ] as const)
    equal(backTo(asked), `https://id.example${at}`, asked);
  equal(createBackTo('https://id.example/auth')('/auth/account'), 'https://id.example/auth/account');
});

test('attack: an address that leads elsewhere than below BASE_URL', () => {
  for (const [baseUrl, home] of [
    ['https://id.example', 'https://id.example/'],
    ['https://id.example/auth', 'https://id.example/auth/'],
  ] as const) {
    const backTo = createBackTo(baseUrl);
    const below = new URL(baseUrl).pathname.replace(/\/$/, '');
    for (const asked of [
      undefined,
      '',
      'evil.example',
      'https://evil.example/',
      'https://id.example.evil.example/',
      'https://id.example@evil.example/',
      'javascript:alert(1)',
      ' //evil.example',
      '//evil.example',
      '///evil.example',
      '/\\evil.example',
      '\\\\evil.example',
      '/\t/evil.example',
      '/\n/evil.example',
      `${below}/.//evil.example`,
      `${below}/..//evil.example`,
      `${below}/x/..//evil.example`,
      `${below}/%2e//evil.example`,
      `${below}/%2e%2e//evil.example`,
      `${below}/.\\/evil.example`,
      `${below}/x//evil.example`,
      `${below}/%`,
      ...(below === ''
        ? []
        : [
            '/',
            '/other',
            '/auth',
            '/authx/',
            '/auth/../other',
            '/auth/..%2fother',
            '/auth/%2e%2e%2fother',
            '/auth/x/..%5c..%5c..%5cother',
          ]),
    ])
      equal(backTo(asked), home, `${baseUrl}: ${asked}`);
    equal(backTo('//evil.example', `${below}/account`), `${baseUrl}/account`);
  }
});

/** Redirects whose address isn't from a request, by the expression that says it (`{` for `${`), and where it is from. */
const FROM_ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  // A registered address of an application, compared with the list (logout-request.ts).
  'src/oidc/logout/logout.ts': ['returnTo', 'target'],
  // Our own endpoint; what was sent is its query.
  'src/oidc/requests/authorize-post.ts': ['`{path}?{query}`'],
  // Where the library sends the browser, its query as it was registered: no other origin or path.
  'src/oidc/requests/own-query.ts': ["'Location', withOwnQuery(location, registered)"],
  'src/oidc/requests/document-clients.ts': ['consoleSignInUrl({ ...site, page })'],
  'src/admin/console/sign-in.ts': ['`{basePath}/oauth2/authorize?{query}`'],
  'src/admin/console/console.ts': [
    '`{basePath}/oauth2/authorize?{query}`',
    '`{basePath}/onboard`',
    // The Admin UI's own address and a path that a page of the Admin UI declares.
    'url',
    "`{basePath}{done === undefined ? page : told.addressOf(ctx, page, 'done', done)}`",
  ],
  'src/http/well-known.ts': ['`{basePath}/account/password`'],
  'src/self-service/passkeys-page.ts': [
    'isEarlier ? home : confirmUrl(who)',
    'toldAt(ctx, notice)',
    "kit.signInUrl('passkeys')",
  ],
  // The list of pages in account-pages.ts.
  'src/self-service/page-kit.ts': [
    '`{basePath}{path}?shown={handle}`',
    'confirmUrl(who.account, page)',
    '`{basePath}{accountPages[pageAt(ctx.path)]}`',
    'confirmUrl(account, change.page)',
    "`{basePath}{told.addressOf(ctx, accountPages[page], 'notice', notice)}`",
  ],
  'src/self-service/routes.ts': ['path', "signInUrl('home')", 'signInUrl(page)'],
  'src/self-service/second-factor-page.ts': ["kit.urlOf('second-factor')"],
  'interactions/dispatcher.ts': ['current.pageUrl(step, interaction)'],
  'interactions/second-factor-methods.ts': ['`{basePath}/oauth2/mfa?{query}`'],
  'interactions/signin-steps.ts': [
    "step === 'password' ? current.pageUrl('login', interaction) : `{basePath}/oauth2/mfa?interaction={encodeURIComponent(interaction.uid)}`",
  ],
  'interactions/home.ts': [
    'isAdministrator ? `{basePath}/admin` : account',
    'account',
    "isSignedIn ? account : consoleSignInUrl({ baseUrl, basePath, page: 'home', isSignUp: true })",
  ],
  'interactions/onboarding.ts': ['`{basePath}/admin`'],
  'interactions/invitation.ts': ['homeUrl', "'/oauth2/signup'"],
  'interactions/enrolment.ts': ['homeUrl', "'/oauth2/enrol'"],
  'interactions/mailed-links.ts': [
    '`{basePath}/oauth2/login`',
    '`{basePath}/account`',
    "'/oauth2/forgot-password'",
    "'/oauth2/reset-password'",
    "'/oauth2/verify-email'",
  ],
  'interactions/second-factor.ts': ["current.pageUrl('login', interaction)"],
  // Its callers above name the path.
  'interactions/done-pages.ts': ['`{basePath}{path}?{query}`'],
  'interactions/current.ts': ['`{basePath}/oauth2/{route}/{interaction.uid}`'],
  'interactions/signup.ts': [
    "current.pageUrl('signup/verify', interaction)",
    "current.pageUrl('signup', interaction)",
  ],
  'interactions/passkeys.ts': ['`{basePath}/oauth2/mfa?interaction={encodeURIComponent(interaction.uid)}`'],
  'interactions/login.ts': [
    '`{hand.basePath}/oauth2/forgot-password?interaction={id}{way}`',
    "current.pageUrl('login', interaction)",
  ],
  // Of the resource that was created, from the route (RFC 9110 §10.2.2).
  'src/admin/api/router.ts': ["'Location', location"],
};

const SENDS = /(?:\.redirect|\bgoTo)\(|\.set\((?='[Ll]ocation')/g;

/** From behind the opening parenthesis to its end. */
function argumentsAt(source: string, from: number): string {
  let depth = 1;
  let end = from;
  while (depth > 0) {
    const one = source[end];
    depth += one === '(' ? 1 : one === ')' ? -1 : 0;
    end += 1;
  }
  return source
    .slice(from, end - 1)
    .replace(/\s+/g, ' ')
    .trim();
}

/** Without the context, what else the done-pages are given, and commas that only the layout has. */
const addressOf = (given: string): string => {
  const [, rest = given] = /^(?:ctx|context), (.*)$/.exec(given) ?? [];
  return rest
    .replace(/^('\/oauth2\/[\w-]+'), .*$/, '$1')
    .replace(/,$/, '')
    .replaceAll(/\$\{/g, '{');
};

test('redirects: each is by back-to, or is named here with where its address is from', () => {
  const files = ['src', 'interactions', 'adapters'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile() && one.name.endsWith('.ts'))
      .map(({ parentPath, name }) => join(parentPath, name)),
  );
  const found: Record<string, string[]> = {};
  for (const file of files) {
    const source = readFileSync(file, 'utf8').replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, '');
    for (const { index, 0: mark } of source.matchAll(SENDS)) {
      // The helper itself, as it is declared.
      if (/(?:function|async) $/.test(source.slice(Math.max(0, index - 9), index))) continue;
      const given = addressOf(argumentsAt(source, index + mark.length));
      // Helpers that hand their argument on, and types.
      if (given === 'url' && !file.endsWith('console.ts')) continue;
      if (given.startsWith('backTo(') || given.includes(': Koa.Context') || given.startsWith('path: string'))
        continue;
      const name = relative(ROOT, file).replaceAll('\\', '/');
      found[name] = [...new Set([...(found[name] ?? []), given])];
    }
  }
  const sorted = (all: Readonly<Record<string, readonly string[]>>) =>
    Object.fromEntries(
      Object.entries(all)
        .map(([file, expressions]) => [file, expressions.toSorted()] as const)
        .toSorted(([one], [other]) => (one < other ? -1 : 1)),
    );
  deepEqual(sorted(found), sorted(FROM_ELSEWHERE));
});
