// What the suite's own browser does on the pages of the provider, in the suite's language of tasks and commands.
type Command = readonly (string | number)[];

interface Task {
  readonly task: string;
  readonly match: string;
  readonly optional?: boolean;
  readonly commands: readonly Command[];
}

/** Modules that end on a page of the provider, of which the suite wants a picture. */
const ENDING_HERE = [
  'ensure-registered-redirect-uri',
  'ensure-request-object-with-redirect-uri',
  'ensure-redirect-uri-in-authorization-request',
  'redirect-uri-query-added',
  'redirect-uri-query-mismatch',
  'response-type-missing',
  'rp-initiated-logout-bad-post-logout-redirect-uri',
  'rp-initiated-logout-modified-id-token-hint',
  'rp-initiated-logout-no-id-token-hint',
  'rp-initiated-logout-no-params',
  'rp-initiated-logout-no-post-logout-redirect-uri',
  'rp-initiated-logout-only-state',
  'rp-initiated-logout-query-added-to-post-logout-redirect-uri',
  'rp-initiated-logout-bad-id-token-hint',
].map((name) => `oidcc-${name}`);

const press = (css: string): Command => ['click', 'css', css, 'optional'];
const type = (name: string, value: string): Command => [
  'text',
  'css',
  `input[name=${name}]:not([hidden])`,
  value,
  'optional',
];
const picture = (kind: string): Command => ['wait', 'xpath', '//*', 5, '.*', kind];
const optional = (task: string, match: string, ...commands: readonly Command[]): Task => ({
  task,
  match,
  optional: true,
  commands,
});

/** @returns the members `browser` and `override` of a plan's configuration */
export function browserFor(
  suite: string,
  baseUrl: string,
  person: { readonly username: string; readonly password: string },
) {
  const [pages, out] = [`${baseUrl}/oauth2/*`, `${baseUrl}/oauth2/logout*`];
  const signIn = (...first: readonly Command[]): Task =>
    optional(
      'Sign in',
      pages,
      ...first,
      type('username', person.username),
      type('password', person.password),
      press('form[action$="/oauth2/login"] button.primary'),
    );
  const done: Task = {
    task: 'Complete',
    match: `${suite}/test/*`,
    commands: [['wait', 'id', 'submission_complete', 10]],
  };
  const leave = optional('Sign out', out, press('form button.primary'));
  const returned = optional('Returned', `${suite}/test/*`, ['wait', 'xpath', '//*', 10]);
  const browser = [
    {
      match: `${baseUrl}/oauth2/authorize*`,
      tasks: [
        signIn(picture('update-image-placeholder-optional')),
        optional('Consent', pages, press('button[value=allow]')),
        optional('Go on', pages, press('form[data-autosubmit] button')),
        done,
      ],
    },
    { match: out, tasks: [leave, returned] },
  ];
  const endingHere = [
    {
      match: `${baseUrl}/oauth2/authorize*`,
      tasks: [
        signIn(),
        { ...done, optional: true },
        optional('Error page', pages, picture('update-image-placeholder')),
      ],
    },
    {
      match: out,
      tasks: [leave, returned, optional('Signed out', pages, picture('update-image-placeholder'))],
    },
  ];
  return {
    browser,
    override: Object.fromEntries(ENDING_HERE.map((module) => [module, { browser: endingHere }])),
  };
}
