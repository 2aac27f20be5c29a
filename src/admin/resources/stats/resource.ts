// GET /stats (decision 0010): counts of all resources, and events of the last day and month.
import { defineRoutes } from '../../api/define-resource.ts';
import { statsSchema } from '../../api/stats-schema.ts';

export const stats = defineRoutes('About', (on) => ({
  read: on.route('GET /stats', {
    summary: 'Counts, and statistics of the last 24 hours and 30 days; up to a few seconds old',
    answer: statsSchema,
    run: async (_, ports) => ({ data: await ports.stats.read() }),
  }),
}));
