// /account/api (decision 0023): the actions of the self-service pages, for applications with a user's access token.
// This file declares only addresses, bodies and JSON; the pages use the same actions.
import type Koa from 'koa';
import { ownMembersOf } from '../accounts/index.ts';
import { AppError, invalid } from '../errors.ts';
import { createRouter, readFile, readJson } from '../http/index.ts';
import { type OperationName, operationNames, pictureTypes } from '../model/account-api.ts';
import { ownNames } from '../model/users/rows.ts';
import type { Acts } from './acts.ts';
import { type Body, changesIn, membersOf, objectIn } from './api-body.ts';
import type { Call, Handle } from './api-call.ts';
import { apiDocument, isSensitive, placeOf } from './api-document.ts';
import { passkeyHandlers } from './api-passkeys.ts';
import { deviceOf, iso, list } from './api-shapes.ts';
import { readCrop } from './crop.ts';
import type { SelfServiceDoors } from './doors.ts';
import { placeIn, type SelfServiceUser } from './page-kit.ts';

const CROP_RULE = {
  crop_x: 'Must be a number of pixels from 0 to 99999, together with crop_y and crop_size.',
  crop_y: 'Must be a number of pixels from 0 to 99999, together with crop_x and crop_size.',
  crop_size: 'Must be a number of pixels from 1 to 99999, together with crop_x and crop_y.',
} as const;

export function accountApi(doors: SelfServiceDoors, acts: Acts): Koa.Middleware {
  const { overview, profile, deletion, email, password, secondFactor, launcher, picture } = acts;
  const placeFor = placeIn(doors.placeOf);

  /** @throws AppError auth.required, auth.invalid_token, auth.insufficient_scope, auth.stale */
  async function authorize(ctx: Koa.Context, access: 'read' | 'change'): Promise<SelfServiceUser> {
    const user = await doors.signedIn.ofBearer(await doors.authorizeUser(ctx, access));
    return { ...user, isBrowser: false };
  }

  const codes =
    (handle: Handle): Handle =>
    (call) => {
      if (secondFactor.isOff()) throw new AppError('mfa.off');
      return handle(call);
    };

  async function showProfile({ who }: Call): Promise<object> {
    const { account } = who;
    const facts = overview.facts(who);
    return {
      id: account.id,
      ...Object.fromEntries(
        Object.entries(ownMembersOf(account)).map(([name, value]) => [name, value || null]),
      ),
      picture: picture.addressOf(account) ?? null,
      has_avatar: account.avatarId !== undefined,
      can_change_username: profile.mayChangeUsername(),
      email: account.email ?? null,
      is_email_verified: account.isEmailVerified,
      has_password: account.passwordHash !== undefined,
      password_changed_at: iso(account.passwordChangedAt),
      totp_enrolled_at: iso(account.totp?.enrolledAt),
      has_email_codes: facts.hasEmailCodes,
      recovery_codes_left: facts.codesLeft,
      passkey_count: facts.passkeyCount + facts.securityKeyCount,
      is_recently_authenticated: who.isFresh,
    };
  }

  const changeProfile = async ({ who, readChanges }: Call): Promise<void> =>
    profile.change(who, await readChanges(ownNames));

  async function setPicture({ ctx, who }: Call): Promise<object> {
    const { crop, wrong } = readCrop((name) => ctx.query[name]);
    if (wrong.length > 0) throw invalid(Object.fromEntries(wrong.map((name) => [name, CROP_RULE[name]])));
    const bytes = await readFile(ctx, { types: pictureTypes, limitBytes: picture.maxBytes });
    return { picture: picture.addressOf(await picture.set(who.account, bytes, crop)) };
  }

  async function showEmail({ who }: Call): Promise<object> {
    const { others, pending, stopped } = await email.stateOf(who.account);
    return {
      email: who.account.email ?? null,
      is_email_verified: who.account.isEmailVerified,
      other_emails: others,
      pending,
      stopped:
        stopped === undefined
          ? null
          : { from: stopped.from ?? null, to: stopped.to, keep_from: iso(stopped.keepFrom) },
    };
  }

  async function settleEmail({ who, read }: Call): Promise<undefined> {
    const { choice } = await read(['choice']);
    if (choice !== 'keep' && choice !== 'undo') throw invalid({ choice: 'Must be keep or undo.' });
    await email.settle(who, choice);
    return undefined;
  }

  async function changePassword({ ctx, who, read }: Call): Promise<undefined> {
    if (password.arePasswordsOff()) throw new AppError('password.off');
    const body = await read(['password'], ['current_password']);
    const input = { given: body.current_password ?? '', next: body.password ?? '' };
    const outcome = await password.change(ctx, who, input);
    if (outcome === 'wrong') throw invalid({ current_password: 'Incorrect password.' });
    return undefined;
  }

  async function confirmApp({ ctx, who, read }: Call): Promise<object> {
    const body = await read(['pending', 'code']);
    const outcome = await secondFactor.confirm(ctx, who, body.pending ?? '', body.code ?? '');
    if (outcome === 'wrong') throw invalid({ code: 'Incorrect code.' });
    if (outcome === 'expired') throw invalid({ pending: 'This has expired. Start again.' });
    return { recovery_codes: outcome.codes ?? null };
  }

  const listSessions = async ({ who }: Call): Promise<object> =>
    list(
      (await overview.sessions(who)).map((one) => ({
        id: one.id,
        device: deviceOf(one),
        ip_address: one.ipAddress,
        place: placeFor(who, one.ipAddress),
        last_activity_at: iso(one.lastActivityAt),
        is_current: one.isThis,
      })),
    );
  const listDevices = async ({ who }: Call): Promise<object> =>
    list(
      (await overview.devices(who)).map((one) => ({
        id: one.id,
        device: deviceOf(one),
        ip_address: one.ipAddress,
        last_used_at: iso(one.lastUsedAt),
        expires_at: iso(one.expiresAt),
      })),
    );
  const listApplications = async ({ who }: Call): Promise<object> =>
    list(
      (await overview.applications(who)).map((one) => ({
        client_id: one.clientId,
        client_name: one.name,
        is_agent: one.isAgent,
        scopes: one.scopes,
        apis: one.apis,
        since: iso(one.since),
        last_used_at: iso(one.lastUsedAt),
        active_tokens: one.tokens,
      })),
    );
  const listLaunchable = async ({ who }: Call): Promise<object> =>
    list(
      (await launcher(who)).map((one) => ({
        client_id: one.clientId,
        client_name: one.name,
        url: one.url ?? null,
        host: one.host ?? null,
        logo_uri: one.logoUri ?? null,
      })),
    );
  const listActivity = async ({ who }: Call): Promise<object> =>
    list(
      (await overview.activity(who)).map((one) => ({
        at: iso(one.at),
        kind: one.kind,
        is_problem: one.isProblem,
        device: deviceOf(one),
        ip_address: one.ipAddress ?? null,
        place: placeFor(who, one.ipAddress),
      })),
    );
  const createCodes = async ({ ctx, who }: Call): Promise<object> => ({
    recovery_codes: await secondFactor.createCodes(ctx, who),
  });

  const handlers: Readonly<Record<OperationName, Handle>> = {
    'GET /profile': showProfile,
    'PATCH /profile': changeProfile,
    'PUT /avatar': setPicture,
    'DELETE /avatar': ({ who }) => picture.remove(who.account),
    'POST /profile/send-email-verification': ({ who }) => acts.sendVerification(who),
    'GET /export': ({ who }) => acts.exportOwn(who, 'json'),
    'POST /deletion': async ({ who, read }) => ({
      due_at: iso(await deletion.request(who, (await read(['username'])).username ?? '')),
    }),
    'GET /email': showEmail,
    'POST /email': async ({ who, read }) => email.request(who.account, (await read(['email'])).email ?? ''),
    'POST /email/make-primary': async ({ ctx, who, read }) =>
      email.makePrimary(ctx, who, (await read(['email'])).email ?? ''),
    'POST /email/remove': async ({ ctx, who, read }) => {
      await email.remove(ctx, who, (await read(['email'])).email ?? '');
    },
    'POST /email/settle': settleEmail,
    'PUT /password': changePassword,
    'POST /totp': codes(async ({ who }) => secondFactor.begin(who)),
    'DELETE /totp': codes(({ ctx, who }) => secondFactor.removeApp(ctx, who)),
    'POST /totp/confirm': codes(confirmApp),
    'POST /email-codes': codes(async ({ ctx, who }) => ({
      recovery_codes: (await secondFactor.addEmail(ctx, who)) ?? null,
    })),
    'DELETE /email-codes': codes(({ ctx, who }) => secondFactor.removeEmail(ctx, who)),
    'POST /recovery-codes': createCodes,
    ...passkeyHandlers(doors, acts),
    'GET /sessions': listSessions,
    'DELETE /sessions': ({ who }) => acts.endOtherSessions(who),
    'DELETE /sessions/:id': ({ who, id }) => acts.endSession(who, id),
    'GET /activity': listActivity,
    'POST /report-compromise': async ({ who }) => void (await acts.reportCompromise(who)),
    'GET /trusted-devices': listDevices,
    'DELETE /trusted-devices': ({ who }) => acts.forgetDevices(who),
    'DELETE /trusted-devices/:id': ({ who, id }) => acts.forgetDevice(who, id),
    'GET /launcher': listLaunchable,
    'GET /applications': listApplications,
    'DELETE /applications/:id': ({ who, id }) => acts.removeApplication(who, id),
  };

  const router = createRouter({ prefix: '/account/api', refusesOtherMethods: true });
  const document = apiDocument(`${doors.baseUrl}/account/api`, doors.issuer, doors.version);
  // Without a bearer: it says nothing about anyone.
  router.get('/openapi.json', (ctx) => {
    ctx.set('Cache-Control', 'public, max-age=3600');
    ctx.body = document;
  });
  for (const name of operationNames) {
    const { method, path } = placeOf(name);
    const needsFresh = isSensitive(name);
    const handle = handlers[name];
    router.on(method, path, async (ctx) => {
      ctx.set('Cache-Control', 'no-store');
      const who = await authorize(ctx, method === 'GET' ? 'read' : 'change');
      if (needsFresh && !who.isFresh) throw new AppError('auth.stale');
      const read = async (required: readonly string[], optional: readonly string[] = []): Promise<Body> =>
        membersOf(await readJson(ctx), required, optional);
      const readChanges = async (names: readonly string[]): Promise<Body> =>
        changesIn(await readJson(ctx), names);
      const readObject = async (member: string): Promise<object> => objectIn(await readJson(ctx), member);
      const data = await handle({ ctx, who, id: ctx.params.id ?? '', read, readChanges, readObject });
      if (data === undefined) ctx.status = 204;
      else ctx.body = { data };
    });
  }
  return router.middleware;
}
