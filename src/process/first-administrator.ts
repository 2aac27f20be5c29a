// Headless onboarding: creates the first administrator from the configuration when there is none.
import type { Accounts } from '../accounts/index.ts';
import { AppError, OperatorError } from '../errors.ts';
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
function inVariables(error: AppError): OperatorError {
  const problems = Object.entries(error.fields ?? {}).map(
    ([field, problem]) => `${VARIABLES[field] ?? field}: ${problem}`,
  );
  return new OperatorError(`The first administrator cannot be created. ${problems.join(' ')}`);
}

/** Harmless at later starts. @throws OperatorError naming the invalid variables */
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
