// Assembles the Admin UI: cookies, sign-in, admission, pages.
import type Koa from 'koa';
import type { ProtocolDoors } from '../../oidc/index.ts';
import type { TestSignIns } from '../test-sign-in/create.ts';
import { createTestSignInRun } from '../test-sign-in/run.ts';
import { type Admission, createAdmissions, isAdmission } from './admission.ts';
import { adminConsole, type ConsoleParts } from './console.ts';
import { createFactorOffer, isPutOffBy } from './factor-offer.ts';
import { createPreviews } from './previews.ts';
import { createSealedCookie } from './sealed-cookie.ts';
import { createConsoleSignIn, isPendingSignIn, type PendingSignIn } from './sign-in.ts';
import { createUndo, isOfferedUndo, type OfferedUndo } from './undo.ts';
import { createViewChoices, isOwnChoices, type OwnChoices } from './view-choices.ts';

/** @returns middleware for /admin, except /admin/api */
export function createAdminUi(
  doors: ProtocolDoors,
  testSignIns: TestSignIns,
  parts: Pick<ConsoleParts, 'routes' | 'perform' | 'userImports'>,
): Koa.Middleware {
  const { baseUrl, basePath, clock } = doors;
  const cookie = {
    keys: doors.cookieKeys,
    isSecure: baseUrl.startsWith('https:'),
    path: basePath === '' ? '/' : basePath,
    clock,
  };
  const strict = { ...cookie, sameSite: 'strict' } as const;
  return adminConsole(doors, {
    ...parts,
    testSignIn: createTestSignInRun(doors, testSignIns),
    admissions: createAdmissions(
      doors,
      createSealedCookie<Admission>({ ...strict, name: 'latchkey_admin', isValid: isAdmission }),
    ),
    factorOffer: createFactorOffer(
      doors,
      createSealedCookie<string>({ ...strict, name: 'latchkey_admin_later', isValid: isPutOffBy }),
    ),
    viewChoices: createViewChoices(
      createSealedCookie<OwnChoices>({ ...strict, name: 'latchkey_admin_view', isValid: isOwnChoices }),
    ),
    previews: createPreviews(doors),
    undo: createUndo(
      createSealedCookie<OfferedUndo>({ ...strict, name: 'latchkey_admin_undo', isValid: isOfferedUndo }),
    ),
    signIn: createConsoleSignIn(
      doors,
      createSealedCookie<PendingSignIn>({
        ...cookie,
        name: 'latchkey_admin_signin',
        // Lax: the redirect back from the sign-in may have started on another site.
        sameSite: 'lax',
        isValid: isPendingSignIn,
      }),
    ),
  });
}
