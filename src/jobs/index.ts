// Background jobs: what a job is, and the scheduler that runs each at its interval, one run at a time over all processes
// (scheduler.ts, where to start; lease.ts); and delayed writes of what is collected in memory. Which jobs there are is not decided here: each domain declares its own in a file
// that ends in -job.ts.
export { createDelayedWrites } from './delayed-writes.ts';
export { inBatches } from './in-batches.ts';
export { createScheduler, type Figures, type Job, type Scheduler } from './scheduler.ts';
