// What starts the product in tests of processes: its source, or the bundle in the runs of processes/bundle.test.ts.
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../..', import.meta.url);

export const productEntry = (): string =>
  fileURLToPath(new URL(process.env.PRODUCT_ENTRY ?? 'src/main.ts', ROOT));
