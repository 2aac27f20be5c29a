import { registeredId } from '../src/client-ids.ts';
import type { BoundInteraction } from '../src/oidc/sign-in.ts';
import type { SendOptions } from '../src/views/index.ts';

/** In the address of the sign-in page: none of the people that this browser knows. */
export const ANOTHER = 'other';

export function stringParameter(interaction: BoundInteraction, name: string): string | undefined {
  const value = interaction.params[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The application's own id, also where its sign-in is tried. */
export const clientIdOf = ({ params }: Pick<BoundInteraction, 'params'>): string =>
  registeredId(String(params.client_id));

export function pageOptions(interaction: BoundInteraction): SendOptions {
  const redirectUri = stringParameter(interaction, 'redirect_uri');
  // Chromium holds form-action against every redirect that follows a form, and an application may send the browser on
  // from its callback to another host of its own. So the scheme is allowed, not the one origin.
  const scheme = redirectUri === undefined ? undefined : URL.parse(redirectUri)?.protocol;
  return {
    uiLocales: stringParameter(interaction, 'ui_locales'),
    formAction: scheme === undefined ? [] : [scheme],
  };
}
