// The scopes in the form of an application: those of the account API are a choice of their own, which first-party applications alone
// are offered.
import { accountScopes } from '../../../model/applications/vocabulary.ts';
import { textOf } from '../../pages/field-values.ts';
import type { Values } from '../../pages/page.ts';
import { templateOf } from './template-of.ts';

export const accountChoices = [
  { value: '', label: 'No access' },
  { value: 'account:read', label: 'Read' },
  { value: 'account', label: 'Read and change' },
] as const;

const isAccountScope = (word: string): boolean => accountScopes.some((scope) => scope === word);
const wordsOf = (scope: string): string[] => scope.split(/\s+/).filter((word) => word !== '');

const isInBrowser = (client: Values): boolean =>
  templateOf(client) !== 'machine' && templateOf(client) !== 'device';

export const mayOpenAccounts = (client: Values): boolean =>
  client.skip_consent === true && (client.quarantine ?? null) === null && isInBrowser(client);

/** The form's values; where there is no such choice, the text has all scopes. */
export function accountAccessOf(client: Values): Values {
  const words = wordsOf(textOf(client, 'scope'));
  if (!mayOpenAccounts(client)) return { scope: words.join(' '), account_access: '' };
  const [widest = ''] = accountScopes.filter((scope) => words.includes(scope));
  return { scope: words.filter((word) => !isAccountScope(word)).join(' '), account_access: widest };
}

/** An application that stops being first-party loses the choice with it. */
export function scopeBody(textIn: (name: string) => string | undefined): { readonly scope: string | null } {
  const chosen = textIn('skip_consent') === 'on' ? (textIn('account_access') ?? '') : '';
  const words = [...wordsOf(textIn('scope') ?? ''), ...(isAccountScope(chosen) ? [chosen] : [])];
  return { scope: words.length === 0 ? null : [...new Set(words)].join(' ') };
}
