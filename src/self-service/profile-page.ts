// /account/profile: how users are called here and in applications, and their language and time zone.

import type Koa from 'koa';
import { ownMembersOf } from '../accounts/index.ts';
import { AppError } from '../errors.ts';
import type { Form } from '../http/index.ts';
import type { Row } from '../model/row.ts';
import { locale, zone } from '../model/time-kinds.ts';
import { short, username } from '../model/users/kinds.ts';
import { ownNames, userRows } from '../model/users/rows.ts';
import { type FieldErrors, languages, type PageModels } from '../views/index.ts';
import type { Acts } from './acts.ts';
import { looksOf, ownerOf, type PageKit, type Problem, type SelfServiceUser } from './page-kit.ts';
import type { OwnProfile } from './profile-changes.ts';

type Model = PageModels['account-profile'];

interface Shown extends Partial<Problem> {
  readonly errors?: FieldErrors;
  readonly values?: Model['values'];
}

const NOTICES = ['picture_changed', 'picture_removed'] as const;

const MAX_SHOWN = 400;

/** In its own words, as people look for it. */
function languageName(tag: string): string {
  const name = new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag;
  return name.charAt(0).toLocaleUpperCase(tag) + name.slice(1);
}

const zones: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone')];

/** With what is stored, although the list would not offer it. */
const including = (all: readonly string[], one: string): readonly string[] =>
  one === '' || all.includes(one) ? all : [one, ...all];

/** What a selection offers; undefined for what is typed. */
function optionsOf(kind: unknown, value: string): Model['fields'][number]['options'] {
  if (kind === zone) return including(zones, value).map((one) => ({ value: one, label: one }));
  if (kind !== locale) return undefined;
  const tag = value.replaceAll('_', '-');
  return including(languages, tag).map((one) => ({
    value: one === tag ? value : one,
    label: languageName(one),
  }));
}

const ownRows = Object.entries<Row<unknown>>(userRows).filter(([name]) => ownNames.includes(name));

const fieldsOf = (values: Model['values']): Model['fields'] =>
  ownRows
    .filter(([name]) => name !== 'username')
    .map(([name, { kind }]) => ({ key: name, options: optionsOf(kind, values[name] ?? '') }));

/** Every problem of a kind has one translation: the form itself bounds it. */
const problems = new Map<unknown, string>([
  [short, 'invalid.text'],
  [locale, 'invalid.choice'],
  [zone, 'invalid.choice'],
  [username, 'invalid.username_characters'],
]);
const problemAt = (name: string): string | undefined =>
  problems.get(ownRows.find(([own]) => own === name)?.[1].kind);

function errorsOf(error: unknown): FieldErrors {
  if (!(error instanceof AppError) || error.fields === undefined) throw error;
  if (error.code === 'account.username_taken') return { username: 'invalid.username_taken' };
  return Object.fromEntries(
    Object.entries(error.fields).map(([name, problem]) => [name, problemAt(name) ?? problem]),
  );
}

export function createProfilePage(kit: PageKit, { profile }: Acts) {
  async function show(ctx: Koa.Context, who: SelfServiceUser, shown: Shown = {}): Promise<void> {
    const { errors = {}, alert, retryAfterSeconds, status } = shown;
    const isOffered = profile.mayChangeUsername();
    const stored = ownMembersOf(who.account);
    kit.views.send(
      ctx,
      'account-profile',
      {
        csrf: kit.token(ctx, who),
        account: ownerOf(who),
        values: { ...stored, ...shown.values },
        fields: fieldsOf(stored),
        notice: kit.noticeOf(ctx, NOTICES),
        usernameChange: isOffered ? (who.isFresh ? 'now' : 'later') : 'never',
        confirmUrl: isOffered ? kit.confirmUrlOf(who, 'profile') : undefined,
        errors,
        alert: alert === undefined ? undefined : { key: alert },
        retryAfterSeconds,
      },
      looksOf(who, status ?? (Object.keys(errors).length > 0 ? 400 : 200)),
    );
  }

  /** What the form has: without a right to it, there is no username in it. */
  const wantedOf = (form: Form): OwnProfile =>
    Object.fromEntries(
      ownNames.flatMap((name) => {
        const value = form.get(name);
        return value === undefined ? [] : [[name, value]];
      }),
    );

  return {
    show: (ctx: Koa.Context, who: SelfServiceUser): Promise<void> => show(ctx, who),

    async submit(ctx: Koa.Context, who: SelfServiceUser): Promise<void> {
      let values = ownMembersOf(who.account);
      await kit.change(ctx, who, {
        page: 'home',
        alerts: {
          'request.rate_limited': 'alert.rate_limited',
          'account.username_fixed': 'alert.username_fixed',
          'account.changed': 'alert.account_changed',
          'auth.stale': 'alert.stale',
        },
        async act(form) {
          const wanted = wantedOf(form);
          const typed = Object.entries(wanted).map(([name, text = '']) => [name, text.slice(0, MAX_SHOWN)]);
          values = { ...values, ...Object.fromEntries(typed) };
          try {
            await profile.change(who, wanted);
            return 'profile_changed';
          } catch (error) {
            await show(ctx, who, { errors: errorsOf(error), values });
            return undefined;
          }
        },
        showAgain: (problem) => show(ctx, who, { ...problem, values }),
      });
    },
  };
}
