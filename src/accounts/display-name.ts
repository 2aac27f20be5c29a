import type { Profile } from '../store/collections.ts';
import { profileName } from '../store/search-text.ts';

/** The person's name, or its parts put together; undefined where the profile has neither. */
export const displayNameOf = (profile: Profile): string | undefined => profileName(profile);
