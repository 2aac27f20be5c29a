// A fact is said in its row and in the rules that use it, nowhere else: how many product files the names of each occur in, the one of JSON
// and the stored one. `node scripts/places.ts NAME` prints them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modelRows } from '../../scripts/model-rows.ts';
import { isTelling, placesOf, placesOfAmr, rulesOf, USUAL } from '../../scripts/places/count.ts';

/** In how many files the issue wants them, the row included. */
const GOALS: Readonly<Record<string, number>> = {
  zoneinfo: 4,
  phone_number: 8,
  minimal_id_tokens: 5,
  logout_needs_auth: 4,
  maxAuthAgeSeconds: 6,
  // Its values written out, `mfa` as a word of paths apart.
  amr: 4,
};

/** Names that several resources have, or that are parameters of the protocol: no count of files says how often one of them is said. */
const SHARED: ReadonlySet<string> = new Set([
  'client_id',
  'created_at',
  'createdAt',
  'displayName',
  'display_name',
  'dueAt',
  'is_active',
  'isActive',
  'last_used_at',
  'updated_at',
  'updatedAt',
  'usedAt',
  'user_id',
]);

// Those of more rules than usual, with the number of files beside those of their rows. A number may only go down (`node scripts/places.ts --lower`); most are of
// facts that have no row yet, or of rules that are many by nature (`mfa_mode`, `redirect_uris`).
const CEILINGS: ReadonlyMap<string, number> = new Map(
  `
accessTokenFormat 6
accessTokenSeconds 4
access_token_format 6
access_token_seconds 5
accountScopes 14
addressChange 8
allow_magic_link 5
allow_password_reset 4
allowedGroups 4
allowed_groups 11
application_type 20
approved_addresses 6
auth_mode 17
authenticatedNotBefore 10
authorization_signed_response_alg 4
avatarId 18
avatar_id 4
backchannel_logout_uri 7
clientType 5
client_name 40
client_type 12
default_resource 4
deletingAt 14
deletion_due_at 5
emailKey 15
failedLoginAttempts 5
family_name 9
frontchannel_logout_uri 5
given_name 10
grant_types 24
hasChosenAuthMethod 5
hasEmailCodes 19
introspectionClientId 5
introspection_client_id 6
invitation_link_seconds 4
isDpopRequired 5
isEmailVerified 30
isEnding 7
isOpenToAgents 7
isPhoneNumberVerified 4
is_email_verified 22
is_open_to_agents 4
jwks_uri 12
knownBrowsers 16
lastLoginAt 5
last_login_at 7
legacy_profiles 9
lockedUntil 9
locked_until 12
machineGrants 5
machine_grants 10
mfa_mode 18
mustEnrolSecondFactor 7
otherEmails 16
other_emails 10
passkey_count 8
passwordChangedAt 8
passwordHash 18
password_hash 6
phoneNumber 6
phone_number 5
post_logout_redirect_uris 13
product_name 12
proofsNotBefore 5
purge_interval_seconds 5
recoveryCodes 18
redirect_uris 36
request_uris 8
require_dpop 5
require_pkce 12
response_types 11
securityChangedAt 6
session_absolute_seconds 4
session_idle_seconds 5
skipConsent 13
skip_consent 11
smtp_url 10
token_endpoint_auth_method 23
totpVerified 9
totp_verified 12
usernameKey 14
`
    .trim()
    .split('\n')
    .map((line) => [line.split(' ')[0] ?? '', Number(line.split(' ')[1])]),
);

const tooMany = (
  names: Iterable<string>,
  ceilingOf: (name: string) => number,
  filesOf: (name: string) => readonly string[],
): string[] =>
  [...new Set(names)]
    .filter((name) => filesOf(name).length > ceilingOf(name))
    .map(
      (name) => `${name}: ${filesOf(name).length} files, not ${ceilingOf(name)}: ${filesOf(name).join(' ')}`,
    );

const ceilingOf = (name: string): number => CEILINGS.get(name) ?? USUAL;

test('places: no name of a row is in more files than its ceiling', () => {
  const names = modelRows.flatMap(({ name, row }) => [name, row.stored?.split('.').at(-1) ?? name]);
  const counted = names.filter((name) => isTelling(name) && !SHARED.has(name));
  assert.ok(counted.length >= 80, `${counted.length}`);
  assert.deepEqual(tooMany(counted, ceilingOf, rulesOf), []);
});

test('places: no listed name is in more files than its ceiling', () => {
  assert.deepEqual(tooMany(CEILINGS.keys(), ceilingOf, rulesOf), []);
});

test('places: what came down to its goal stays there', () => {
  const filesOf = (name: string) => (name === 'amr' ? placesOfAmr() : placesOf(name));
  assert.deepEqual(
    tooMany(Object.keys(GOALS), (name) => GOALS[name] ?? 0, filesOf),
    [],
  );
});

test('places: one more file is found', () => {
  const few = (name: string): number => rulesOf(name).length - 1;
  const [found = ''] = tooMany(['lockout_threshold'], few, rulesOf);
  assert.match(found, /^lockout_threshold: \d+ files, not \d+: .*src\/accounts\//);
});

test('places: words of code, texts and templates count, remarks do not', () => {
  assert.ok(placesOf('phone_number').includes('templates/signup.njk'));
  assert.ok(placesOf('lockout_threshold').includes('src/model/settings/sign-in.ts'));
  assert.ok(!placesOf('smtp_url').includes('src/model/smtp-url.ts'), 'a remark there names it');
  assert.deepEqual(placesOf('toString_of_nothing'), []);
  assert.deepEqual(
    [isTelling('profile'), isTelling('given_name'), isTelling('phoneNumber')],
    [false, true, true],
  );
  assert.ok(!placesOfAmr().includes('src/views/language-switch.ts'), '`mfa` is a path there');
});
