// Members of a stored payload that the models of this version don't list, such as those of a newer version that writes to the same
// store: the library makes its object, and what it saves, of the listed ones alone. What is saved again as it goes on (sessions, grants,
// sign-ins, device codes) keeps them (src/store/unknown-members.ts is the same for everything else).
import type { AdapterPayload } from 'oidc-provider';

/** Where a model carries them: a plain property, since the library may pass it behind a Proxy. */
export interface WithNewer {
  newer?: Readonly<Record<string, unknown>> | undefined;
}

/** @returns undefined when there are none, as always without a newer version */
export function newerIn(payload: Readonly<AdapterPayload>, listed: readonly string[]): WithNewer['newer'] {
  const newer = Object.entries(payload).filter(([name]) => !listed.includes(name));
  return newer.length === 0 ? undefined : Object.fromEntries(newer);
}

/** @returns the model made of that payload, with them */
export const withNewer = <Model extends object>(
  model: Model,
  payload: Readonly<AdapterPayload>,
  listed: readonly string[],
): Model => {
  const newer = newerIn(payload, listed);
  return newer === undefined ? model : Object.assign(model, { newer });
};

/** What is saved, with them. */
export const keepingNewer = <Saved extends { readonly payload: AdapterPayload }>(
  { newer }: WithNewer,
  saved: Saved,
): Saved => (newer === undefined ? saved : { ...saved, payload: { ...newer, ...saved.payload } });
