// The part of known-members.ts that is about the smaller records.
import type { ApiKeyRecord, GroupRecord } from './administration.ts';
import type {
  ConsentRecord,
  InitialAccessTokenRecord,
  InvitationRecord,
  LogoutDeliveryRecord,
  MailRecord,
  SessionRecord,
  SettingsRecord,
  SigningKeyRecord,
  TrustedDeviceRecord,
} from './collections.ts';
import type { PasskeyRecord } from './passkeys.ts';
import type { Members } from './unknown-members.ts';
import type { UserImportRecord } from './user-imports.ts';

const mails = {
  state: true,
  to: true,
  accountId: true,
  template: true,
  subject: true,
  sealedText: true,
  sealedHtml: true,
  attempts: true,
  outages: true,
  dueAt: true,
  lastError: true,
  createdAt: true,
  sentAt: true,
} as const satisfies Members<MailRecord>;

const logoutDeliveries = {
  clientId: true,
  sub: true,
  sid: true,
  isTest: true,
  state: true,
  origin: true,
  attempts: true,
  dueAt: true,
  createdAt: true,
  triedAt: true,
  status: true,
  problem: true,
  isOfDeletedUser: true,
} as const satisfies Members<LogoutDeliveryRecord>;

const passkeys = {
  accountId: true,
  credentialId: true,
  publicKey: true,
  counter: true,
  counterWentBackAt: true,
  transports: true,
  deviceType: true,
  isBackedUp: true,
  aaguid: true,
  label: true,
  isUserVerified: true,
  createdAt: true,
  lastUsedAt: true,
} as const satisfies Members<PasskeyRecord>;

const sessions = {
  accountId: true,
  ipAddress: true,
  userAgent: true,
  amr: true,
  clientIds: true,
  createdAt: true,
  lastActivityAt: true,
  expiresAt: true,
  endedAt: true,
  isEnding: true,
  endingOf: true,
} as const satisfies Members<SessionRecord>;

const signingKeys = {
  alg: true,
  state: true,
  publicJwk: true,
  sealedPrivateJwk: true,
  es256: true,
  createdAt: true,
  activateAt: true,
  activatedAt: true,
  retiredAt: true,
} as const satisfies Members<SigningKeyRecord>;

const userImports = {
  accountId: true,
  state: true,
  mayUpdate: true,
  total: true,
  done: true,
  created: true,
  updated: true,
  unchanged: true,
  refused: true,
  parts: true,
  nextPart: true,
  createdAt: true,
  changedAt: true,
  runningSince: true,
  doneBefore: true,
  problem: true,
} as const satisfies Members<UserImportRecord>;

export const knownSmallMembers = {
  mails,
  logout_deliveries: logoutDeliveries,
  passkeys,
  sessions,
  signing_keys: signingKeys,
  user_imports: userImports,
  groups: {
    name: true,
    displayName: true,
    description: true,
    removingAt: true,
    createdAt: true,
    updatedAt: true,
  } as const satisfies Members<GroupRecord>,
  api_keys: {
    name: true,
    scopes: true,
    digest: true,
    createdBy: true,
    owner: true,
    createdAt: true,
    lastUsedAt: true,
  } as const satisfies Members<ApiKeyRecord>,
  consents: {
    accountId: true,
    clientId: true,
    scopes: true,
    claims: true,
    apis: true,
    statement: true,
    createdAt: true,
    updatedAt: true,
  } as const satisfies Members<ConsentRecord>,
  initial_access_tokens: {
    label: true,
    usesLeft: true,
    createdAt: true,
    profile: true,
  } as const satisfies Members<InitialAccessTokenRecord>,
  invitations: {
    email: true,
    mailedDigest: true,
    handedDigest: true,
    clientId: true,
    createdAt: true,
    usedAt: true,
    accountId: true,
  } as const satisfies Members<InvitationRecord>,
  // The settings themselves are kept by src/settings, which knows their names.
  settings: {
    values: true,
    looks: true,
    model: true,
    updatedAt: true,
    updatedBy: true,
  } as const satisfies Members<SettingsRecord>,
  trusted_devices: {
    accountId: true,
    label: true,
    ipAddress: true,
    userAgent: true,
    createdAt: true,
    lastUsedAt: true,
    boundTo: true,
  } as const satisfies Members<TrustedDeviceRecord>,
};
