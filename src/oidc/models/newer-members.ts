// Members of a stored payload that the models of this version don't list, such as those of a newer version that writes to the same
// store: the library makes its object, and what it saves, of the listed ones alone. A session or grant is saved again as it goes on, so it
// keeps them (src/store/unknown-members.ts is the same for everything else).
import type { AdapterPayload } from 'oidc-provider';

/** Where a model carries them: a plain property, since the library may pass it behind a Proxy. */
export interface WithNewer {
  newer?: Readonly<Record<string, unknown>>;
}

/** @returns undefined when there are none, as always without a newer version */
export function newerIn(payload: Readonly<AdapterPayload>, listed: readonly string[]): WithNewer['newer'] {
  const newer = Object.entries(payload).filter(([name]) => !listed.includes(name));
  return newer.length === 0 ? undefined : Object.fromEntries(newer);
}
