// Users (decision 0010).
import { type Account, type ChangedAccount, toUser, type User } from '../../../accounts/index.ts';
import { AppError } from '../../../errors.ts';
import type { EventName } from '../../../events/index.ts';
import type { Queued } from '../../../mail/index.ts';
import { userRows } from '../../../model/users/rows.ts';
import { defineResource, defineRoutes } from '../../api/define-resource.ts';
import type { Actor, AdminPorts } from '../../api/ports.ts';
import { Told } from '../../api/route.ts';
import { object, oneOf } from '../../api/schema-parts.ts';
import { atVersion, idParams, userIdBody } from '../../api/shared.ts';
import { userList } from './list.ts';
import { newUserSchema, userChangesSchema, userSchema } from './schema.ts';

/** @throws AppError request.invalid for a user without an address to send a link to */
const isColumn = (name: string): name is keyof User => Object.hasOwn(userRows, name);
const exportedColumns = Object.keys(userRows)
  .filter(isColumn)
  .filter((name) => userRows[name].isExported);

const settleBody = object({
  choice: oneOf(['keep', 'undo'], '`keep`: the new address. `undo`: back to the former one.'),
});

const changed = { answer: userSchema, hasVersion: true } as const;

const show = (account: Account, { clock }: AdminPorts) => ({
  data: toUser(account, clock()),
  version: account.version,
});

const showChange = ({ before, after }: ChangedAccount, ports: AdminPorts) => ({
  ...show(after, ports),
  before: show(before, ports).data,
});

const get = async (id: string, { accounts }: AdminPorts, ifVersion?: number): Promise<Account> =>
  atVersion(await accounts.find(id), 'account.not_found', ifVersion);

/** Who administers decides on their own stopped change as everybody does, at /account/email (decision 0038). */
const isOwn = (actor: Actor, id: string): boolean => actor.kind === 'user' && actor.id === id;

export const users = defineResource(
  {
    path: '/users',
    tag: 'Users',
    target: 'user',
    compared: 'user',
    view: userSchema,
    present: (accounts: readonly Account[], { clock }: AdminPorts) =>
      accounts.map((account) => toUser(account, clock())),
    versionOf: ({ version }) => version,
  },
  (on) => {
    const change = (method: 'PUT' | 'PATCH') =>
      on.route(`${method} /users/{id}`, {
        summary: 'Change a user: only the given fields change; null clears a field',
        recorded: { event: 'user.updated', target: 'user', view: 'user' },
        params: idParams,
        body: userChangesSchema,
        ...changed,
        async run({ params, body, ifVersion, actor }, ports) {
          const options = { version: ifVersion, isByOwner: isOwn(actor, params.id) };
          return showChange(await ports.accounts.changeAccountAsAdmin(params.id, body, options), ports);
        },
      });

    return {
      create: on.create({
        summary: 'Create a user',
        event: 'user.created',
        body: newUserSchema,
        answer: userSchema,
        hasVersion: true,
        async run({ body }, ports) {
          const account = await ports.accounts.create({ ...body, username: String(body.username) });
          return { ...show(account, ports), id: account.id };
        },
      }),
      list: on.list({
        summary: 'List users',
        list: userList,
        csv: exportedColumns,
        query: (wanted, { accounts }) => accounts.query(wanted),
        recordOf: (account) => account,
      }),
      read: on.read({
        summary: 'Read a user',
        find: (id, { accounts }) => accounts.find(id),
        missing: 'account.not_found',
      }),
      replace: change('PUT'),
      change: change('PATCH'),
      remove: on.remove({
        summary: 'Delete a user with all sessions, tokens and other data',
        event: 'user.removed',
        params: idParams,
        async run({ params, ifVersion }, ports) {
          // removeAccountAsAdmin() also completes a deletion that a crash interrupted, which would no longer be found.
          const found = await ports.accounts.find(params.id);
          if (ifVersion !== undefined) atVersion(found, 'account.not_found', ifVersion);
          await ports.accounts.removeAccountAsAdmin(params.id);
          return new Told({}, found && show(found, ports).data);
        },
      }),
    };
  },
);

interface UserAct {
  readonly summary: string;
  readonly event: EventName;
  readonly run: (
    id: string,
    accounts: AdminPorts['accounts'],
    version: number | undefined,
  ) => Promise<ChangedAccount>;
}

interface MailingAct extends Pick<UserAct, 'summary' | 'event'> {
  readonly send: (account: Account, ports: AdminPorts) => Promise<Queued>;
}

/** Acts on one user; each answers with the user. */
export const userActs = defineRoutes('Users', (on) => {
  const act = (name: string, { summary, event, run }: UserAct) =>
    on.route(`POST /users/{id}/${name}`, {
      summary,
      recorded: { event, target: 'user', view: 'user' },
      params: idParams,
      ...changed,
      run: async ({ params, ifVersion }, ports) =>
        showChange(await run(params.id, ports.accounts, ifVersion), ports),
    });

  /** Answers with the mail, too: whether it can leave at all is not told by the user. */
  const mailing = (name: string, { summary, event, send }: MailingAct) =>
    on.route(`POST /users/{id}/${name}`, {
      summary,
      recorded: { event, target: 'user' },
      params: idParams,
      ...changed,
      hasMail: true,
      async run({ params, ifVersion }, ports) {
        const mail = await send(await get(params.id, ports, ifVersion), ports);
        const answer = show(await get(params.id, ports), ports);
        return { ...answer, mail, recorded: { details: { mail: mail.state } } };
      },
    });

  return {
    unlockByBody: on.route('POST /users/unlock', {
      hasTarget: true,
      summary: 'Unlock a user',
      recorded: { event: 'user.unlocked', target: 'user', view: 'user' },
      body: userIdBody,
      ...changed,
      run: async ({ body, ifVersion }, ports) =>
        showChange(await ports.accounts.unlock(body.user_id, { version: ifVersion }), ports),
    }),
    unlock: act('unlock', {
      summary: 'Unlock a user',
      event: 'user.unlocked',
      run: (id, accounts, version) => accounts.unlock(id, { version }),
    }),
    deactivate: act('deactivate', {
      summary: 'Deactivate a user and end their sessions',
      event: 'user.deactivated',
      run: (id, accounts, version) => accounts.changeAccountAsAdmin(id, { is_active: false }, { version }),
    }),
    reactivate: act('reactivate', {
      summary: 'Reactivate a deactivated user',
      event: 'user.reactivated',
      run: (id, accounts, version) => accounts.changeAccountAsAdmin(id, { is_active: true }, { version }),
    }),
    revokeSessions: on.route('POST /users/{id}/revoke-sessions', {
      summary: 'Sign a user out everywhere',
      recorded: { event: 'user.sessions_revoked', target: 'user' },
      params: idParams,
      ...changed,
      async run({ params, ifVersion }, ports) {
        const { id } = await get(params.id, ports, ifVersion);
        await ports.accounts.endSessionsAsAdmin(id);
        return show(await get(id, ports), ports);
      },
    }),
    resetMfa: act('reset-mfa', {
      summary: 'Reset the second factor: the user must enrol again',
      event: 'mfa.reset',
      run: (id, accounts, version) =>
        accounts.changeAccountAsAdmin(id, { totp_verified: false }, { version }),
    }),
    sendPasswordReset: mailing('send-password-reset', {
      summary: 'Mail a user a link to set a new password',
      event: 'password.reset_requested',
      send: (account, ports) => ports.recovery.sendPasswordReset(account),
    }),
    sendEnrolmentLink: mailing('send-enrolment-link', {
      summary: 'Mail a new user a one-time link to set up the account',
      event: 'enrolment.requested',
      send: (account, ports) => ports.registration.enrolment.sendLink(account),
    }),
    settleEmailChange: on.route('POST /users/{id}/settle-email-change', {
      summary: 'Settle a stopped change of the primary address: `keep` the new one, or `undo` the change',
      recorded: { event: 'email.change_settled', target: 'user', view: 'user', isBodyShown: true },
      params: idParams,
      body: settleBody,
      ...changed,
      async run({ params, body, ifVersion, actor }, ports) {
        if (isOwn(actor, params.id)) throw new AppError('account.email_frozen');
        const before = await get(params.id, ports, ifVersion);
        await ports.recovery.emailChanges.settleAsAdmin(before, body.choice);
        return showChange({ before, after: await get(params.id, ports) }, ports);
      },
    }),
    sendEmailVerification: mailing('send-email-verification', {
      summary: 'Mail a user a link that verifies the address',
      event: 'email.verification_requested',
      send: (account, ports) => ports.recovery.sendEmailVerification(account),
    }),
  };
});
