// What a registration would say about each of several redirect URIs, without registering anything: the very checks of a
// registration, one address at a time.
import { AppError } from '../errors.ts';
import type { Authority } from './metadata-rules.ts';
import { prepareMetadata, type ValidateMetadata } from './prepare.ts';

interface Asked {
  readonly uris: readonly string[];
  readonly applicationType: 'web' | 'native';
}

interface CheckedUri {
  readonly uri: string;
  /** A sentence; absent: it can be registered. */
  readonly problem?: string;
}

const withoutEntry = (problem: string): string =>
  problem.replace(/^Entry \d+ (\w)/, (_, first: string) => first.toUpperCase());

export async function checkRedirectUris(
  { uris, applicationType }: Asked,
  authority: Authority,
  validateMetadata: ValidateMetadata,
): Promise<readonly CheckedUri[]> {
  const checked: CheckedUri[] = [];
  for (const uri of uris) {
    const metadata = { application_type: applicationType, redirect_uris: [uri] };
    try {
      await prepareMetadata('check', metadata, authority, validateMetadata);
      const isTwice = checked.some((one) => one.uri === uri);
      checked.push(isTwice ? { uri, problem: 'Is listed twice.' } : { uri });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const { redirect_uris: problem = error.message } = error.fields ?? {};
      checked.push({ uri, problem: withoutEntry(problem) });
    }
  }
  return checked;
}
