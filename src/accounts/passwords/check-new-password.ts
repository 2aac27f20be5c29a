import { invalid } from '../../errors.ts';
import { minPasswordLength, passwordProblems } from './password-rules.ts';

/**
 * Checks a password before spending a hash or a one-time link on it.
 * @throws AppError request.invalid
 */
export function checkNewPassword(
  password: string,
  { username, email }: { readonly username: string; readonly email?: string | undefined },
  { settings, baseUrl }: { settings: PasswordSettings; baseUrl: string },
): void {
  const problems = passwordProblems(password, {
    minLength: minPasswordLength(settings),
    username,
    email,
    contextWords: [settings.product_name, new URL(baseUrl).hostname],
  });
  if (problems.length > 0) throw invalid({ password: problems.join(' ') });
}

type PasswordSettings = Parameters<typeof minPasswordLength>[0] & { readonly product_name: string };
