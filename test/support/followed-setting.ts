// In a copy of the project that has one more setting: what the application, its documents and its texts say of it, as JSON. It knows
// the setting by its name alone. Started by test/docs/setting-recipe.test.ts.
import { derivedTexts } from '../../scripts/admin-texts/derived.ts';
import { textsOfRows } from '../../scripts/admin-texts/rows.ts';
import { renderConfiguration } from '../../scripts/docs/generated.ts';
import { Agent } from './agent.ts';
import { apiDocument } from './api-document.ts';
import { PASSWORD, startApp } from './app.ts';

const [, , name = '', given = '', refused = '', group = ''] = process.argv;
const app = await startApp({ limits: 'shipped' });
try {
  const admin = async (method: string, path: string, body?: unknown) =>
    (await app.admin(method, path, body)).body;
  const shown = async () => (await admin('GET', '/settings')).data.items?.find(({ key }) => key === name);
  const before = await shown();
  const change = await app.admin('PATCH', '/settings', { [name]: Number(refused) });
  await admin('PATCH', '/settings', { [name]: Number(given) });
  const after = await shown();
  const { values } = (await admin('GET', '/settings/export')).data;
  await admin('PUT', '/settings', {});
  const reset = await shown();
  await admin('POST', '/settings/import', { values });
  const imported = await shown();
  const events = await admin('GET', '/audit?event=settings.changed');
  await app.createUser('root-admin', { role: 'admin' });
  const agent = new Agent(app);
  const page = await agent.follow(await agent.get('/admin'));
  await agent.submit(page, { username: 'root-admin', password: PASSWORD });
  const form = await agent.get(`/admin/settings/${group}`);
  const seen = {
    before,
    refusal: { status: change.status, fields: change.body.error?.fields },
    after: after?.value,
    exported: JSON.stringify(values).includes(`"${name}":${given}`),
    reset: reset?.value,
    imported: imported?.value,
    events: JSON.stringify(events.data.items),
    form: form.body,
    document: JSON.stringify(apiDocument()),
    configuration: renderConfiguration(),
    texts: [...derivedTexts(), ...textsOfRows()].map(({ text }) => text),
  };
  process.stdout.write(JSON.stringify(seen));
} finally {
  await app.stop();
}
