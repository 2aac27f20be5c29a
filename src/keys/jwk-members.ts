// Members of a JWK, copied one by one, so that no private one gets in.

/** @throws TypeError when one of them is missing */
export const texts = <Name extends string>(jwk: object, names: readonly Name[]): Record<Name, string> => {
  const members = new Map<string, unknown>(Object.entries(jwk));
  const entries = names.map((name) => {
    const value = members.get(name);
    // The value is key material, so the message has the member's name only.
    if (typeof value !== 'string' || value === '') throw new TypeError(`the JWK has no ${name}`);
    return [name, value] as const;
  });
  // Object.fromEntries loses the names in its type; they are exactly `names`.
  return Object.fromEntries(entries) as Record<Name, string>;
};
