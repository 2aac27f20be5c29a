// A fact is said in its row and in the rules that use it, nowhere else: how many product files the names of each occur in, the one of JSON
// and the stored one. `node scripts/places.ts NAME` prints them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modelRows } from '../../scripts/model-rows.ts';
import { isTelling, placesOf, placesOfAmr, USUAL } from '../../scripts/places/count.ts';

/** Where issue N wants them. */
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

// Those that stand in more places than usual, with how many. A number may only go down (`node scripts/places.ts --lower`); most are of
// facts that have no row yet, or of rules that are many by nature (`mfa_mode`, `redirect_uris`).
const CEILINGS: ReadonlyMap<string, number> = new Map(
  `
accessTokenFormat 8
accessTokenSeconds 10
access_token_seconds 9
accountScopes 14
addressChange 9
allow_magic_link 5
allow_password_reset 5
allow_self_signup 5
allowedGroups 5
allowed_groups 12
application_type 21
approved_addresses 7
auth_mode 18
authenticatedNotBefore 10
authorization_signed_response_alg 5
avatarId 19
avatar_id 5
backchannel_logout_uri 8
clientType 6
client_name 41
client_type 13
default_resource 5
deletingAt 14
deletion_due_at 6
emailKey 15
email_code_seconds 5
failedLoginAttempts 6
family_name 10
frontchannel_logout_uri 6
given_name 11
grant_types 25
hasChosenAuthMethod 5
hasEmailCodes 19
interaction_seconds 5
invitation_link_seconds 6
isDpopRequired 8
isEmailVerified 31
isEnding 7
isOpenToAgents 10
isPhoneNumberVerified 5
is_email_verified 23
jwks_uri 13
knownBrowsers 16
lastLoginAt 6
last_login_at 8
legacy_profiles 10
lockedUntil 10
locked_until 13
machineGrants 7
maxAuthAgeSeconds 7
mfa_mode 19
mustEnrolSecondFactor 7
otherEmails 17
other_emails 11
passkey_count 9
passwordChangedAt 9
passwordHash 20
password_hash 7
phoneNumber 7
phone_number 6
post_logout_redirect_uris 14
product_name 13
proofsNotBefore 5
purge_interval_seconds 6
recoveryCodes 18
redirect_uris 37
refresh_token_idle_seconds 5
request_uris 9
require_pkce 14
requiredAcr 9
required_acr 5
response_types 12
securityChangedAt 6
session_absolute_seconds 6
session_idle_seconds 7
skipConsent 14
skip_consent 12
smtp_url 11
token_endpoint_auth_method 24
totpVerified 10
totp_verified 13
trusted_device_seconds 5
usernameKey 14
`
    .trim()
    .split('\n')
    .map((line) => [line.split(' ')[0] ?? '', Number(line.split(' ')[1])]),
);

const countOf = (name: string): number => (name === 'amr' ? placesOfAmr() : placesOf(name)).length;

const tooMany = (names: Iterable<string>, ceilingOf: (name: string) => number): string[] =>
  [...new Set(names)]
    .filter((name) => countOf(name) > ceilingOf(name))
    .map((name) => `${name}: ${countOf(name)} files, not ${ceilingOf(name)}: ${placesOf(name).join(' ')}`);

const ceilingOf = (name: string): number => CEILINGS.get(name) ?? GOALS[name] ?? USUAL;

test('places: no name of a row is in more files than its ceiling', () => {
  const names = modelRows.flatMap(({ name, row }) => [name, row.stored?.split('.').at(-1) ?? name]);
  const counted = names.filter((name) => isTelling(name) && !SHARED.has(name));
  assert.ok(counted.length >= 80, `${counted.length}`);
  assert.deepEqual(tooMany(counted, ceilingOf), []);
});

test('places: no listed name is in more files than its ceiling', () => {
  assert.deepEqual(tooMany([...CEILINGS.keys(), ...Object.keys(GOALS)], ceilingOf), []);
});

test('places: what is held at its goal has no higher ceiling, and one more file is found', () => {
  const held = Object.keys(GOALS).filter((name) => ceilingOf(name) <= (GOALS[name] ?? 0));
  assert.ok(held.includes('logout_needs_auth'), held.join());
  const [found = ''] = tooMany(['lockout_threshold'], (name) => countOf(name) - 1);
  assert.match(found, /^lockout_threshold: \d+ files, not \d+: .*src\/model\/settings\/sign-in\.ts/);
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
