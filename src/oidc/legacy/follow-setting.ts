// The provider follows the setting: with it another one is built, so that without it nothing is different. All state is in the
// store, as at a rotation of keys.
interface Deps {
  readonly isOn: () => boolean;
  /** How the provider in use was built; undefined before the first one. */
  readonly isBuiltWith: () => boolean | undefined;
  /** Builds a provider as the setting says now, and takes it into use. */
  readonly rebuild: () => Promise<void>;
}

/** @returns what a request waits for before it uses the provider; undefined: nothing */
export function followSetting({ isOn, isBuiltWith, rebuild }: Deps): () => Promise<void> | undefined {
  let pending: Promise<void> | undefined;
  return () => {
    const built = isBuiltWith();
    if (built === undefined || built === isOn()) return undefined;
    pending ??= rebuild().finally(() => {
      pending = undefined;
    });
    return pending;
  };
}
