// Where the palette goes beside the pages of the navigation, users and applications: what is added, single settings, guides. A
// fragment of links, in the language of the page, that the palette asks for when it is opened (templates/assets/comfort.js).
import { guides } from '../guides/list.ts';
import { type AdminContext, get, type Page } from '../pages/page.ts';
import { readAll, slug } from '../resources/settings/groups.ts';
import { labelOf } from '../resources/settings/words.ts';

async function show(context: AdminContext): Promise<void> {
  const { settings, groups } = await readAll(context);
  context.show('places', {
    title: 'Go to',
    here: '',
    guides,
    groups,
    settings: settings.map(({ key, group }) => ({ key, label: labelOf(key), slug: slug(group) })),
  });
}

export const placesPages: readonly Page[] = [get('/places', show)];
