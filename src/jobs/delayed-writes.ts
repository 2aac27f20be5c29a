// Writes what a domain collects in memory some time after the first of it, one write at a time.

export interface DelayedWrites {
  /** Writes after the delay, unless that is planned already. */
  arm(): void;
  /** Resolves when everything collected until now is written. */
  flush(): Promise<void>;
  /** Writes the rest and plans no more. */
  close(): Promise<void>;
  isClosed(): boolean;
}

/** @param options.write takes what is collected and never rejects; undefined when there is nothing */
export function createDelayedWrites(options: {
  readonly delayMs: number;
  readonly write: () => Promise<void> | undefined;
}): DelayedWrites {
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let isClosed = false;

  async function flush(): Promise<void> {
    // What arrives during a write is written in the next round.
    while (writing !== undefined) await writing;
    writing = options.write()?.then(() => {
      writing = undefined;
    });
    await writing;
  }

  return {
    arm() {
      if (timer !== undefined || isClosed) return;
      timer = setTimeout(() => {
        timer = undefined;
        void flush();
      }, options.delayMs);
      // Does not keep the process alive; a graceful stop calls close().
      timer.unref();
    },
    flush,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await flush();
    },
    isClosed: () => isClosed,
  };
}
