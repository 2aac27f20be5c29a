// The Admin UI in languages other than English (docs/decisions/0036-admin-languages.md): each is learnt at its first page, since
// most servers need one or two of them.
import type { Language } from './strings.ts';
import type { Learnt } from './translate/learn.ts';

interface Translated<Environment> {
  readonly environment: Environment;
  readonly texts: Learnt['texts'];
  readonly say: Learnt['say'];
}

/** @param make an environment for a language's templates, with its functions */
export function createAdminLanguages<Environment>(
  templates: URL,
  make: (loader: Learnt['loader'], functions: Learnt['functions']) => Environment,
) {
  const learnt = new Map<Language, Translated<Environment>>();
  return {
    async learn(language: Language): Promise<void> {
      if (language === 'en' || learnt.has(language)) return;
      const { learn } = await import('./translate/learn.ts');
      const { loader, functions, ...rest } = learn(language, templates);
      learnt.set(language, { environment: make(loader, functions), ...rest });
    },
    /** @returns undefined for English, and for what was not learnt yet */
    of: (language: Language): Translated<Environment> | undefined => learnt.get(language),
  };
}
