// /account/profile: how users are called here and in applications, and their language and time zone.
import type Koa from 'koa';
import { AppError } from '../errors.ts';
import type { Form } from '../http/index.ts';
import { type FieldErrors, languages, type PageModels } from '../views/index.ts';
import { looksOf, ownerOf, type PageKit, type Problem, type SelfServiceUser } from './page-kit.ts';
import { type OwnProfile, ownProfileFields } from './profile-changes.ts';

type Model = PageModels['account-profile'];

export interface ProfileDeps {
  readonly kit: PageKit;
  readonly mayChangeUsername: () => boolean;
  /** @throws AppError request.invalid, account.username_taken, auth.stale, request.rate_limited */
  readonly change: (who: SelfServiceUser, wanted: OwnProfile) => Promise<void>;
}

interface Shown extends Partial<Problem> {
  readonly errors?: FieldErrors;
  readonly values?: Model['values'];
}

const NOTICES = ['picture_changed', 'picture_removed'] as const;

const MAX_SHOWN = 400;

/** Every problem of a text has one translation: the form itself bounds it. */
const PROBLEMS: FieldErrors = {
  given_name: 'invalid.text',
  family_name: 'invalid.text',
  name: 'invalid.text',
  nickname: 'invalid.text',
  locale: 'invalid.choice',
  zoneinfo: 'invalid.choice',
  username: 'invalid.username_characters',
};

/** In its own words, as people look for it. */
function languageName(tag: string): string {
  const name = new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag;
  return name.charAt(0).toLocaleUpperCase(tag) + name.slice(1);
}

const zones: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone')];

/** With what is stored, although the list would not offer it. */
const including = (all: readonly string[], one: string): readonly string[] =>
  one === '' || all.includes(one) ? all : [one, ...all];

const valuesOf = ({ account: { username, profile } }: SelfServiceUser): Model['values'] => ({
  username,
  given_name: profile.given_name ?? '',
  family_name: profile.family_name ?? '',
  name: profile.name ?? '',
  nickname: profile.nickname ?? '',
  locale: profile.locale ?? '',
  zoneinfo: profile.zoneinfo ?? '',
});

function errorsOf(error: unknown): FieldErrors {
  if (!(error instanceof AppError) || error.fields === undefined) throw error;
  if (error.code === 'account.username_taken') return { username: 'invalid.username_taken' };
  return Object.fromEntries(
    Object.entries(error.fields).map(([name, problem]) => [name, PROBLEMS[name] ?? problem]),
  );
}

export function createProfilePage({ kit, mayChangeUsername, change }: ProfileDeps) {
  async function show(ctx: Koa.Context, who: SelfServiceUser, shown: Shown = {}): Promise<void> {
    const { errors = {}, alert, retryAfterSeconds, status } = shown;
    const isOffered = mayChangeUsername();
    const { locale = '', zoneinfo = '' } = who.account.profile;
    const offered = including(languages, locale.replaceAll('_', '-'));
    kit.views.send(
      ctx,
      'account-profile',
      {
        csrf: kit.token(ctx, who),
        account: ownerOf(who),
        values: { ...valuesOf(who), ...shown.values },
        languages: offered.map((tag) => ({
          value: tag === locale.replaceAll('_', '-') ? locale : tag,
          label: languageName(tag),
        })),
        zones: including(zones, zoneinfo),
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
      [...ownProfileFields, 'username' as const].flatMap((name) => {
        const value = form.get(name);
        return value === undefined ? [] : [[name, value]];
      }),
    );

  return {
    show: (ctx: Koa.Context, who: SelfServiceUser): Promise<void> => show(ctx, who),

    async submit(ctx: Koa.Context, who: SelfServiceUser): Promise<void> {
      let values = valuesOf(who);
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
            await change(who, wanted);
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
