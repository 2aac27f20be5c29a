import type { Profile } from '../store/collections.ts';

/** The person's name, or its parts put together; undefined where the profile has neither. */
export const displayNameOf = ({ name, given_name, family_name }: Profile): string | undefined =>
  name ?? ([given_name, family_name].filter((part) => part !== undefined).join(' ') || undefined);
