// Headless onboarding: creates the first administrator from the configuration when there is none.
import type { Accounts } from '../accounts/index.ts';
import { AppError } from '../errors.ts';
import type { Logger } from '../log.ts';

interface Deps {
  readonly admin:
    | { readonly username: string; readonly password: string; readonly email?: string }
    | undefined;
  readonly accounts: Pick<Accounts, 'hasAdmin' | 'createFirstAdmin'>;
  readonly log: Pick<Logger, 'info'>;
}

const VARIABLES: Readonly<Record<string, string>> = {
  username: 'ADMIN_USERNAME',
  password: 'ADMIN_PASSWORD',
  email: 'ADMIN_EMAIL',
};

/** Names the environment variables instead of the API's fields. */
function inVariables(error: AppError): AppError {
  const problems = Object.entries(error.fields ?? {}).map(
    ([field, problem]) => `${VARIABLES[field] ?? field}: ${problem}`,
  );
  return new AppError(error.code, { message: problems.join(' '), fields: error.fields });
}

/** Harmless at later starts. @throws AppError request.invalid naming the invalid values */
export async function createFirstAdminFromConfig({ admin, accounts, log }: Deps): Promise<void> {
  if (admin === undefined || (await accounts.hasAdmin())) return;
  try {
    const account = await accounts.createFirstAdmin(admin);
    log.info(
      { event: 'onboarded', account_id: account.id },
      'first administrator created from the environment',
    );
  } catch (error) {
    // Another process of the same start was faster.
    if (error instanceof AppError && error.code === 'onboarding.closed') return;
    throw error instanceof AppError && error.fields !== undefined ? inVariables(error) : error;
  }
}
