// Self-service: /account and /account/api, where signed-in users read and change their own account. It owns the
// pages, the API and the users' actions. Not here: the rules for passwords and accounts are in src/accounts, for
// factors in src/second-factors and src/passkeys, for freshness in src/oidc/sign-in/signed-in-user.ts. Start with routes.ts
// (pages) and api.ts; both call account-acts.ts and credential-changes.ts.
import type Koa from 'koa';
import {
  type Account,
  type AccountDomain,
  activeAdminFilters,
  minPasswordLength,
} from '../accounts/index.ts';
import type { Apis } from '../apis/index.ts';
import type { AuditLogs } from '../audit/index.ts';
import { type Avatars, MAX_AVATAR_BYTES, pictureOf } from '../avatars/index.ts';
import type { ClientDomain } from '../clients/index.ts';
import type { Clock } from '../clock.ts';
import type { Events } from '../events/index.ts';
import { readFile, readForm, readJson, readUpload } from '../http/index.ts';
import type { Mail } from '../mail/index.ts';
import { type Bearers, type ConfirmSession, consoleSignInUrl, type ProtocolState } from '../oidc/index.ts';
import type { Passkeys } from '../passkeys/index.ts';
import type { PlaceOf } from '../places/index.ts';
import type { RateLimits } from '../rate-limits/index.ts';
import type { Recovery } from '../recovery/index.ts';
import { type SecondFactors, toQrDataUri } from '../second-factors/index.ts';
import type { SessionDomain } from '../sessions/index.ts';
import type { SettingValues } from '../settings/index.ts';
import { createAccountActs, type KnownBrowsers } from './account-acts.ts';
import type { AccountPage } from './account-pages.ts';
import { accountApi } from './api.ts';
import { type CredentialChangesDeps, createCredentialChanges } from './credential-changes.ts';
import { createDataPage } from './data-page.ts';
import { createDeletePage } from './delete-page.ts';
import { createDeletion } from './deletion.ts';
import { createEmailPage, type EmailDeps } from './email-page.ts';
import { createPersonalExport } from './export.ts';
import { createHomePage } from './home-page.ts';
import { createKeptForms } from './kept-forms.ts';
import { createLauncher } from './launcher.ts';
import { createLauncherPage } from './launcher-page.ts';
import { createNotMePage } from './not-me-page.ts';
import { createOverview } from './overview.ts';
import { createPageKit, type PageKitDeps, type SelfServiceUser } from './page-kit.ts';
import { accountPasskeys } from './passkeys-page.ts';
import { createPasswordPage } from './password-page.ts';
import { createPicturePage, type OwnPicture } from './picture-page.ts';
import { createProfileChanges } from './profile-changes.ts';
import { createProfilePage } from './profile-page.ts';
import { createRecentAdditions } from './recent-additions.ts';
import { accountRoutes } from './routes.ts';
import { createSecondFactorPage } from './second-factor-page.ts';

/** Whole domains, and what stands around them. */
export interface SelfServiceDeps {
  readonly config: {
    readonly issuer: string;
    readonly baseUrl: string;
    readonly basePath: string;
    readonly version: string;
  };
  readonly clock: Clock;
  readonly settings: () => SettingValues;
  readonly placeOf: PlaceOf;
  readonly pages: Pick<PageKitDeps, 'views' | 'csrf' | 'oneTime'>;
  readonly events: Pick<Events, 'record' | 'origins'>;
  readonly protocol: {
    readonly state: Pick<ProtocolState, 'signedIn' | 'browser'>;
    readonly bearers: Pick<Bearers, 'authorizeUser'>;
    readonly confirmSession: ConfirmSession;
  };
  readonly knownBrowsers: KnownBrowsers & CredentialChangesDeps['knownBrowsers'];
  readonly domains: {
    readonly accounts: Pick<AccountDomain, 'accounts' | 'checkPassword'>;
    readonly clients: Pick<ClientDomain, 'clients'>;
    readonly apis: Pick<Apis, 'find'>;
    readonly sessions: Pick<SessionDomain, 'sessions' | 'access'>;
    readonly avatars: Avatars;
    readonly mail: Pick<Mail, 'list' | 'canSend'>;
    readonly passkeys: Passkeys;
    readonly secondFactors: SecondFactors;
    readonly recovery: Recovery;
    readonly audit: Pick<AuditLogs, 'audit'>;
    readonly rateLimiting: { readonly limits: RateLimits };
  };
}

/** What the actions and pages take their own dependencies from. */
function partsOf({ settings, clock, config, events, protocol, knownBrowsers, domains }: SelfServiceDeps) {
  const { accounts, clients, sessions, audit, rateLimiting, ...others } = domains;
  return {
    settings,
    clock,
    baseUrl: config.baseUrl,
    issuer: config.issuer,
    events,
    ...protocol.state,
    confirmSession: protocol.confirmSession,
    knownBrowsers,
    accounts: accounts.accounts,
    checkPassword: accounts.checkPassword,
    clients: clients.clients,
    sessions: sessions.sessions,
    access: sessions.access,
    audit: audit.audit,
    limits: rateLimiting.limits,
    ...others,
  };
}

type Parts = ReturnType<typeof partsOf>;

const emailActions = (
  { recovery: { emailChanges }, limits, clock }: Pick<Parts, 'recovery' | 'limits' | 'clock'>,
  { emails }: Pick<ReturnType<typeof createCredentialChanges>, 'emails'>,
): Omit<EmailDeps, 'kit'> => ({
  ...emails,
  now: clock,
  state: ({ account }) => emailChanges.stateOf(account),
  request: ({ account }, address) => emailChanges.request(account, address),
  find: emailChanges.find,
  confirm: ({ account, methodTimes }, token) => emailChanges.confirm(account, token, methodTimes),
  mayKeep: (address) => limits.isWithin('public_requests_ip', address),
  stop: emailChanges.stop,
  settle: ({ account, methodTimes }, choice) => emailChanges.settle(account, choice, methodTimes),
});

const pictureActions = ({ avatars, baseUrl }: Pick<Parts, 'avatars' | 'baseUrl'>): OwnPicture => ({
  maxBytes: MAX_AVATAR_BYTES,
  addressOf: (account) => pictureOf(account, baseUrl),
  set: avatars.set,
  remove: avatars.removeOwn,
});

/** Whether any administrator can be told something by mail: only verified addresses are. */
async function hasMailbox(accounts: Pick<Parts['accounts'], 'query'>): Promise<boolean> {
  const filters = [...activeAdminFilters, { field: 'is_email_verified', op: 'eq', value: true } as const];
  const { items } = await accounts.query({ filters, sort: 'id', order: 'asc', limit: 1 });
  return items.length > 0;
}

/** What the pages and the API share. */
function actionsOf(parts: Parts) {
  const { settings, passkeys, clock } = parts;
  const changes = createCredentialChanges(parts);
  const additions = createRecentAdditions(parts);
  return {
    notMe: { additions: additions.list, tellsAdministrators: () => hasMailbox(parts.accounts) },
    overview: createOverview(parts),
    acts: createAccountActs({ ...parts, additions, canSendMail: parts.mail.canSend }),
    profile: createProfileChanges(parts),
    picture: pictureActions(parts),
    personalData: createPersonalExport(parts),
    deletion: createDeletion(parts),
    launcher: createLauncher(parts),
    email: emailActions(parts, changes),
    password: {
      minLength: () => minPasswordLength(settings()),
      arePasswordsOff: () => settings().auth_mode === 'passkey_only',
      isPasswordEnough: changes.isPasswordEnough,
      canReset: parts.recovery.canResetPassword,
      change: changes.changePassword,
    },
    secondFactor: {
      isOff: () => settings().mfa_mode === 'off',
      isRequired: () => settings().mfa_mode === 'required',
      qr: toQrDataUri,
      now: clock,
      ...changes.secondFactor,
    },
    passkeys: {
      list: passkeys.own,
      signals: passkeys.signals,
      begin: (input: { account: Account; boundTo: string }) =>
        passkeys.beginRegistration({ ...input, mayBeKey: true }),
      add: changes.addPasskey,
      rename: passkeys.rename,
      remove: changes.removePasskey,
    },
  };
}

/** @returns middleware, in the order of use */
export function createSelfService(deps: SelfServiceDeps): Koa.Middleware[] {
  const { config: site, clock, pages } = deps;
  const { origins } = deps.events;
  const { authorizeUser } = deps.protocol.bearers;
  const parts = partsOf(deps);
  const { signedIn } = parts;

  /** Events of this request have the user as their actor. */
  async function ofBrowser(ctx: Koa.Context): Promise<SelfServiceUser | undefined> {
    const user = await signedIn.ofBrowser(ctx);
    if (user !== undefined) origins.setActor({ kind: 'user', id: user.account.id });
    return user && { ...user, isBrowser: true };
  }

  async function ofBearer(ctx: Koa.Context, access: 'read' | 'change'): Promise<SelfServiceUser> {
    const user = await signedIn.ofBearer(await authorizeUser(ctx, access));
    return { ...user, isBrowser: false };
  }

  const signInUrl = (page: AccountPage): string => consoleSignInUrl({ ...site, page });
  const confirmUrl: PageKitDeps['confirmUrl'] = (account, page) =>
    consoleSignInUrl({ ...site, page, isFresh: true, acr: signedIn.strongestAcr(account) });

  const forms = createKeptForms({ ...pages, basePath: site.basePath, readForm });
  const kit = createPageKit({ ...pages, clock, basePath: site.basePath, readForm, confirmUrl, forms });
  const actions = actionsOf(parts);
  const { overview, acts, profile, picture, email, password, secondFactor, passkeys, deletion } = actions;

  return [
    accountApi({
      authorize: ofBearer,
      readJson,
      readFile: (ctx, types) => readFile(ctx, { types, limitBytes: picture.maxBytes }),
      ...site,
      publicUrl: `${site.baseUrl}/account/api`,
      placeWords: deps.placeOf,
      findAccount: parts.accounts.find,
      ...actions,
    }),
    accountRoutes({
      views: pages.views,
      ...site,
      signedIn: ofBrowser,
      signInUrl,
      forms,
      home: createHomePage({
        kit,
        now: clock,
        overview: overview.all,
        acts,
        canDelete: deletion.isAllowed,
        isKnownBrowser: parts.knownBrowsers.isKnown,
        signals: parts.passkeys.signals,
      }),
      launcher: createLauncherPage({ kit, launcher: actions.launcher }),
      profile: createProfilePage({ kit, ...profile }),
      picture: createPicturePage({
        kit,
        picture,
        readUpload: (ctx) => readUpload(ctx, { name: 'picture', limitBytes: picture.maxBytes }),
      }),
      readAvatar: parts.avatars.read,
      email: createEmailPage({ kit, ...email }),
      data: createDataPage({ kit, ...actions.personalData }),
      deletion: createDeletePage({ kit, deletion, lostBy: overview.lost }),
      notMe: createNotMePage({
        kit,
        arePasswordsOff: password.arePasswordsOff,
        ...actions.notMe,
        report: acts.reportCompromise,
      }),
      password: createPasswordPage({ kit, ...password }),
      secondFactor: createSecondFactorPage({ kit, ...secondFactor }),
    }),
    accountPasskeys({
      views: pages.views,
      forms,
      told: kit.told,
      basePath: site.basePath,
      readForm,
      readJson,
      signedIn: ofBrowser,
      signInUrl: () => signInUrl('passkeys'),
      confirmUrl: (account) => confirmUrl(account, 'passkeys'),
      passkeys,
    }),
  ];
}
