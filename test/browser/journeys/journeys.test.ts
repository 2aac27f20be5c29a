// Journeys that people make, each in conditions of width, scheme, language and means: at every page on the way axe finds nothing,
// nothing scrolls sideways or moves by itself, the console is silent, nothing is asked of others, the page is light, the focus is
// where it belongs, and the words are of the language. LONG=1 makes each in every condition; JOURNEYS picks some by their names;
// SHOTS=1 leaves pictures in the system's folder for temporary files.
import { after, before, test } from 'node:test';
import { type MailWorld, startMailWorld } from '../mail-world.ts';
import { ownAccount } from './account.ts';
import { audit, looks, people } from './administration.ts';
import { ALL, type Condition, nameOf } from './conditions.ts';
import { device, wrongAddress } from './device.ts';
import { firstRun } from './first-run.ts';
import { forgotPassword, secondFactor, signUp } from './sign-in.ts';
import { type Journey, walk } from './walk.ts';

const MANY = 10_000;

let world: MailWorld;
before(async () => {
  world = await startMailWorld({
    allow_self_signup: true,
    signup_require_verified_email: true,
    signup_email: 'required',
    limit_mail_ip: MANY,
    limit_register_ip: MANY,
    limit_login_ip: MANY,
    limit_mfa_ip: MANY,
    limit_user_code_ip: MANY,
  });
  await world.server.admin('PATCH', `/clients/${world.clientId}`, { skip_consent: false });
});
after(() => world.stop());

const isLong = process.env.LONG === '1';

/** In each run few, in conditions of which every value occurs once: a journey takes seconds. */
const EACH: readonly (readonly [Journey, Condition])[] = [
  [signUp, { width: 320, scheme: 'dark', language: 'ar', means: 'mouse' }],
  [device, { width: 390, scheme: 'light', language: 'en', means: 'no-script' }],
  [wrongAddress, { width: 1440, scheme: 'dark', language: 'ar', means: 'keyboard' }],
];

const JOURNEYS: readonly Journey[] = [
  ...[signUp, secondFactor, forgotPassword, ownAccount, firstRun],
  ...[people, looks, audit, device, wrongAddress],
];

const everyOne = JOURNEYS.flatMap((journey) => ALL.map((condition) => [journey, condition] as const));
const wanted = process.env.JOURNEYS;

for (const [journey, condition] of isLong ? everyOne : EACH) {
  const name = `journey ${journey.name}: ${nameOf(condition)}`;
  if (wanted !== undefined && !new RegExp(wanted).test(name)) continue;
  test(name, { timeout: 900_000 }, () => walk(world, journey, condition));
}
