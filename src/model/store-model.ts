// The number of what this version stores (decision 0041). It grows with each version that stores something which the one before
// doesn't know: a member, a setting, another default.

export const STORE_MODEL = 1;

/** The oldest model whose versions may write beside this one: what they drop would take a protection away. 0: the first version's. */
export const OLDEST_WRITER = 0;
