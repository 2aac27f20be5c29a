// What this version knows of the documents that it reads, changes and writes back (unknown-members.ts): a new member of a record is a new
// line here, which the types demand. Members that are replaced as a whole, such as an authenticator app, are `true`.
import { demandRows } from '../model/api-rows.ts';
import { applicationRows } from '../model/applications/rows.ts';
import type { Rows, Stored } from '../model/row.ts';
import { addressRows } from '../model/users/address-rows.ts';
import { namesInside } from '../model/users/rows.ts';
import type { ApiRecord, ApiScopeRecord } from './apis.ts';
import type { AccountRecord, ClientRecord } from './collections.ts';
import { knownSmallMembers } from './known-small-members.ts';
import type { Look, LookRecord } from './looks.ts';
import type { Store } from './port.ts';
import { type KnownMembers, keepingUnknown, type Members } from './unknown-members.ts';
import { type YieldedKey, yieldingKeys } from './yielded-keys.ts';

/** What rows speak of is replaced as a whole. */
const whole = (rows: Rows): Readonly<Record<string, true>> =>
  Object.fromEntries(Object.values(rows).map(({ stored }) => [stored.replace(/\..*/, ''), true]));

const accounts = {
  username: true,
  usernameKey: true,
  email: true,
  emailKey: true,
  isEmailVerified: true,
  otherEmails: ['key', { address: true, key: true, verifiedAt: true }],
  role: true,
  passwordHash: true,
  passwordChangedAt: true,
  isActive: true,
  authenticatedNotBefore: true,
  proofsNotBefore: true,
  deletion: true,
  deletingAt: true,
  lastLoginAt: true,
  totpVerified: true,
  totp: true,
  recoveryCodes: true,
  passkeys: ['id', { id: true, kind: true }],
  hasEmailCodes: true,
  addressChange: true,
  mustEnrolSecondFactor: true,
  securityChangedAt: true,
  profile: new Set(namesInside('profile')),
  avatarId: true,
  address: new Set(Object.keys(addressRows)),
  phoneNumber: true,
  isPhoneNumberVerified: true,
  acceptedTerms: true,
  groups: true,
  createdAt: true,
  updatedAt: true,
  failedLoginAttempts: true,
  lockCount: true,
  lockedUntil: true,
  guessedAt: true,
  guessNoticeAt: true,
  knownBrowsers: ['digest', { digest: true, expiresAt: true, failures: true, codeFailures: true }],
  codeFailures: true,
  secondFactorFailures: true,
} as const satisfies Members<AccountRecord>;

const clients = {
  ...whole(applicationRows),
  // Of metadata, src/clients knows the names; of these, what is inside.
  secrets: ['digest', { digest: true, createdAt: true, expiresAt: true }],
  quarantine: { by: true, usedAt: true, fetchedAt: true, says: true },
  hasChosenAuthMethod: true,
  isEnding: true,
  registrationTokenDigest: true,
  accountScopes: true,
} as const satisfies Members<Omit<ClientRecord, Exclude<keyof Stored<typeof applicationRows>, 'quarantine'>>>;

const apiScope = {
  id: true,
  name: true,
  description: true,
  isDefault: true,
  roles: true,
  groups: true,
} as const satisfies Members<ApiScopeRecord>;

const apis = {
  ...whole(demandRows),
  identifier: true,
  name: true,
  scopes: ['id', apiScope],
  clients: true,
  isOpenToAgents: true,
  machineGrants: ['clientId', { clientId: true, scopeIds: true }],
  claims: true,
  accessTokenFormat: true,
  isDpopRequired: true,
  introspectionClientId: true,
  secrets: ['digest', { digest: true, createdAt: true, expiresAt: true }],
  endingScopeIds: true,
  removingAt: true,
  createdAt: true,
  updatedAt: true,
} as const satisfies Members<Omit<ApiRecord, keyof Stored<typeof demandRows>>>;

const look = {
  logo: true,
  logoDark: true,
  icon: true,
  isNameInLogo: true,
  accent: true,
  accentDark: true,
  background: true,
  backgroundDark: true,
  backgroundPicture: true,
  isGradient: true,
  radius: true,
  font: true,
  layout: true,
  texts: true,
  links: true,
  mails: true,
} as const satisfies Members<Look>;

const looks = { look, number: true, at: true, by: true } as const satisfies Members<LookRecord>;

const byCollection = new Map<string, KnownMembers>(
  Object.entries({ accounts, clients, apis, looks, ...knownSmallMembers }),
);

/** @returns undefined for collections whose documents are only added and removed, and those of the protocol core */
export const knownMembersOf = (collection: string): KnownMembers | undefined => byCollection.get(collection);

/** The store as the domains have it: what another version has stored beside this one neither gets lost nor stops it. */
export const besideOthers = (
  store: Store,
  events: { emit(name: 'emailYielded', key: YieldedKey): void },
): Store => yieldingKeys(keepingUnknown(store, knownMembersOf), (key) => events.emit('emailYielded', key));
