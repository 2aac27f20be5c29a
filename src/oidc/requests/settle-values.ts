// Values that libraries and people write in more forms than a specification shows, settled before the protocol core looks at them.
import { wordsOf } from '../entitlements/named-api.ts';

/** In discovery, too. */
export const PROMPTS = ['none', 'login', 'consent', 'select_account', 'create'];

/**
 * Runs of white space separate scopes (decision 0009), values of `prompt` that are unknown are ignored (OpenID Connect Core §3.1.2.1,
 * errata 2), and `claims` that asks for nothing is as none.
 */
export function settleValues(params: Record<string, unknown> = {}): void {
  const { scope, prompt, claims } = params;
  if (typeof scope === 'string') params.scope = wordsOf(scope).join(' ') || undefined;
  if (typeof prompt === 'string')
    params.prompt =
      wordsOf(prompt)
        .filter((value) => PROMPTS.includes(value))
        .join(' ') || undefined;
  if (typeof claims === 'string' && /^\s*\{\s*\}\s*$/.test(claims)) params.claims = undefined;
}
