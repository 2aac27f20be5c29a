// The one check of a bcrypt hash that its thread was started for (foreign-hash.ts).
import { parentPort, workerData } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';

const { hash, password }: { hash: string; password: string } = workerData;
parentPort?.postMessage(compareSync(password, hash));
