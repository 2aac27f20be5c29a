// Who may sign in to an application: all users, or the members of selected groups. It is a separate form, so that changing
// access does not submit the application's other settings.
import { refusalOf, typedIn, versionOf } from '../../pages/field-values.ts';
import { type AdminContext, idOf, type Page, post } from '../../pages/page.ts';
import { showApplication } from './page.ts';
import { clients } from './resource.ts';

const FIELD = 'group.';

/** The ticked groups, and the typed ones where there are too many groups to list. */
function chosen(context: AdminContext): string[] {
  const { form } = context;
  const ticked = [...form.keys()].filter((name) => name.startsWith(FIELD) && form.get(name) === 'on');
  const typed = (form.get('allowed_groups') ?? '').split(/[\s,]+/).filter(Boolean);
  return [...new Set([...ticked.map((name) => name.slice(FIELD.length)), ...typed])];
}

async function save(context: AdminContext): Promise<void> {
  const { id } = idOf(context);
  const isForEverybody = context.form.get('who') !== 'groups';
  const groups = chosen(context);
  try {
    await context.call(clients.change, {
      params: { client_id: id },
      ifVersion: versionOf(context.form),
      body: { allowed_groups: isForEverybody ? null : groups },
    });
    context.go(`/applications/${encodeURIComponent(id)}`, 'access-saved');
  } catch (error) {
    const { status, alert, errors, isStale } = refusalOf(error);
    const access = { isForEverybody, chosen: groups, typed: typedIn(context.form).allowed_groups };
    await showApplication(context, { access, errors, isStale, ...(isStale ? {} : { alert }) }, status);
  }
}

export const applicationAccessPages: readonly Page[] = [post('/applications/:id/access', save)];
