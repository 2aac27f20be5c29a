// A guide with the values of one application, as templates/admin/guide-steps.njk shows it.
import { CHECKED_AT, type Guide, type GuideValues, redirectUrisOf } from '../../guides/guide.ts';
import { valuesFor } from '../../guides/list.ts';
import { markOf } from '../../guides/marks.ts';
import { stepsOf } from '../../guides/render.ts';
import type { AdminContext } from '../../pages/page.ts';

type Application = Parameters<typeof valuesFor>[1] & Pick<GuideValues, 'clientSecret'>;

export function guideModel(context: AdminContext, guide: Guide, application: Application) {
  const values = valuesFor(guide, application, context.server);
  const missing = redirectUrisOf(guide, values.origin).filter(
    (uri) => !application.redirectUris.includes(uri),
  );
  return {
    id: guide.id,
    label: guide.label,
    by: guide.by,
    mark: markOf(guide.mark, CHECKED_AT),
    manual: guide.mark.how === 'run' ? undefined : guide.mark.from,
    values,
    missing: values.isRegistered ? [] : missing,
    steps: stepsOf(guide, { ...values, clientSecret: application.clientSecret }),
  };
}
