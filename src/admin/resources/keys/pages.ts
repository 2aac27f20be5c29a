// The pages of the signing keys: which keys sign and which still verify, the next scheduled rotation, and manual rotation.
import { phrase } from '../../../phrase.ts';
import { formPages, shows } from '../../pages/form-pages.ts';
import { type AdminContext, get, type Page } from '../../pages/page.ts';
import { readSettings } from '../settings/read.ts';
import { keyPlanOf } from './plan.ts';
import { type SigningKey, signingKeys } from './resource.ts';

const here = 'keys';
const crumbs = [{ label: 'Keys', href: '/keys' }];

/** The confirmation text to type before all tokens are revoked. */
const WORD = 'compromised';

const modes = [
  {
    name: 'gradual',
    label: 'Gradually',
    about: 'The new key is published now and starts to sign in 15 minutes. Applications are not affected.',
  },
  {
    name: 'immediate',
    label: 'Immediately',
    about:
      'The new key signs within seconds. Applications that cache the old keys fetch them again when they ' +
      'see an unknown key; very simple ones may refuse sign-ins until then.',
  },
] as const;

const readKeys = async (context: AdminContext): Promise<readonly SigningKey[]> =>
  (await context.call(signingKeys.list, {})).data.items;

async function rotationSecondsOf(context: AdminContext): Promise<number> {
  const settingOf = await readSettings(context);
  return Number(settingOf('key_rotation_seconds')?.value ?? 0);
}

async function showKeys(context: AdminContext): Promise<void> {
  const [keys, rotationSeconds] = await Promise.all([readKeys(context), rotationSecondsOf(context)]);
  const plan = keyPlanOf(keys, rotationSeconds, context.now);
  context.show('keys', { title: 'Keys', here, keys, plan, rotationSeconds });
}

const showRotate = shows('keys-rotate', async (context) => {
  const keys = await readKeys(context);
  const next = keys.find(({ state }) => state === 'next');
  const own = { title: 'Rotate the signing key', here, crumbs, modes, next, mode: 'gradual' };
  return own;
});

async function rotate(context: AdminContext): Promise<void> {
  const mode = context.form.get('mode') ?? '';
  await context.call(signingKeys.rotate, { body: { mode } });
  context.go('/keys', mode === 'immediate' ? 'key-rotated' : 'key-rotating');
}

const showReplace = shows('confirm', async (context) => {
  const current = (await readKeys(context)).filter(({ state }) => state === 'current');
  const ask = {
    heading: 'Replace a compromised key?',
    consequences: [
      phrase`The keys ${current.map(({ kid, alg }) => `${kid} (${alg})`).join(', ')} are removed from the key list now, and new keys sign.`,
      'All access tokens and ID tokens that they signed are no longer valid, in all applications.',
      'Users stay signed in here. Applications get new tokens with their refresh token or by a new sign-in.',
      'This cannot be undone. Use it only when the key may be compromised.',
    ],
    button: 'Replace key',
    isDanger: true,
  };
  const own = { title: ask.heading, here, crumbs, ask, back: '/keys', action: '/keys/replace' };
  return { ...own, thing: current[0] ?? {}, typed: WORD, values: {} };
});

async function replace(context: AdminContext): Promise<void> {
  const typed = context.form.get('confirm') ?? '';
  if (typed.trim() !== WORD) {
    const shown = { errors: { confirm: phrase`Type ${WORD} to continue.` }, values: { confirm: typed } };
    return showReplace(context, shown, 400);
  }
  await context.call(signingKeys.rotate, { body: { mode: 'compromised' } });
  context.go('/keys', 'key-replaced');
}

export const keyPages: readonly Page[] = [
  get('/keys', showKeys),
  ...formPages({ path: '/keys/rotate', isSensitive: true, show: showRotate, submit: rotate }),
  ...formPages({ path: '/keys/replace', isSensitive: true, show: showReplace, submit: replace }),
];
