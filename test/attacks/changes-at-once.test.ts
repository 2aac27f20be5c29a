// Whoever changes the same user or application at the same moment: every change is whole, each event tells the difference of
// its own write and of no other, and one administrator remains.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { membersOf } from '../admin/answers.ts';
import { ADMIN_TOKEN, startApp, type TestApp } from '../support/app.ts';

const AT_ONCE = 12;
const counted = Array.from({ length: AT_ONCE }, (_, at) => at);

let app: TestApp;
before(async () => {
  app = await startApp();
});
after(() => app.stop());

const own = () => ({
  authorization: `Bearer ${ADMIN_TOKEN}`,
  'content-type': 'application/json',
});

/** Newest first. */
async function eventsOf(event: string, id: string): Promise<{ before: unknown; after: unknown }[]> {
  const { body } = await app.admin('GET', `/audit?event=${event}&target_id=${id}&limit=100`);
  return (body.data.items ?? []).map(({ details }) => {
    const { before, after } = membersOf(details);
    return { before, after };
  });
}

/** Each event begins where another ended: the first where nothing had changed. @returns where the last ended */
function endOf(steps: { before: unknown; after: unknown }[], name: string, first: unknown): unknown {
  const left = steps.map((step) => [membersOf(step.before)[name], membersOf(step.after)[name]] as const);
  let at = first;
  while (left.length > 0) {
    const next = left.findIndex(([from]) => JSON.stringify(from) === JSON.stringify(at));
    ok(next !== -1, `no event begins with ${JSON.stringify(at)}: ${JSON.stringify(left)}`);
    at = left.splice(next, 1)[0]?.[1];
  }
  return at;
}

test('attack: changes of one application at once lose nothing, and no event tells of another', async () => {
  const { id } = await app.register();
  const fields = ['max_auth_age', 'access_token_seconds', 'id_token_seconds'] as const;
  const answers = await Promise.all(
    counted.map((at) =>
      app.admin('PATCH', `/clients/${id}`, { [String(fields[at % fields.length])]: 100 + at }),
    ),
  );
  deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  const { data } = (await app.admin('GET', `/clients/${id}`)).body;
  const steps = await eventsOf('client.updated', id);
  equal(steps.length, AT_ONCE);
  for (const step of steps) equal(Object.keys(membersOf(step.after)).length, 1, JSON.stringify(step));
  for (const name of fields) {
    const own = steps.filter(({ after }) => Object.hasOwn(membersOf(after), name));
    equal(own.length, AT_ONCE / fields.length);
    equal(endOf(own, name, null), data[name]);
  }
});

test('attack: changes of one user at once lose nothing, and no event tells of another', async () => {
  const { id } = await app.createUser('several', { email: 'several@example.com' });
  const changes = (at: number) => (at % 2 === 0 ? { username: `several-${at}` } : { nickname: `N${at}` });
  const answers = await Promise.all(counted.map((at) => app.admin('PATCH', `/users/${id}`, changes(at))));
  deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  const { data } = (await app.admin('GET', `/users/${id}`)).body;
  ok(String(data.nickname).startsWith('N') && String(data.username).startsWith('several-'));
  const steps = await eventsOf('user.updated', id);
  equal(steps.length, AT_ONCE);
  const named = steps.filter(({ after }) => after !== undefined);
  equal(named.length, AT_ONCE / 2);
  equal(endOf(named, 'username', 'several'), data.username);
  equal(JSON.stringify(steps).includes('"N'), false, 'what is called a person is told by name alone');
});

test('attack: a version that was read counts once, of as many as send it at once', async () => {
  const { id } = await app.register();
  const { id: userId } = await app.createUser('versioned');
  for (const path of [`/clients/${id}`, `/users/${userId}`]) {
    const name = path.startsWith('/users') ? 'nickname' : 'client_name';
    const { headers } = await fetch(`${app.url}/admin/api${path}`, { headers: own() });
    const version = String(headers.get('etag'));
    const answers = await Promise.all(
      counted.map((at) =>
        fetch(`${app.url}/admin/api${path}`, {
          method: 'PATCH',
          headers: { ...own(), 'if-match': version },
          body: JSON.stringify({ [name]: `Named ${at}` }),
        }),
      ),
    );
    const statuses = answers.map(({ status }) => status).sort();
    deepEqual(statuses, [200, ...counted.slice(1).map(() => 412)], path);
  }
});

test('attack: administrators are demoted, deactivated and emptied at once, and one remains', async () => {
  const admins = await Promise.all(counted.map((at) => app.createUser(`root-${at}`, { role: 'admin' })));
  const ways = [{ role: 'user' }, { is_active: false }, { role: 'auditor', nickname: 'Was' }];
  const answers = await Promise.all(
    admins.map(({ id }, at) => app.admin('PATCH', `/users/${id}`, ways[at % ways.length])),
  );
  const refused = answers.filter(({ status }) => status !== 200);
  for (const { body } of refused) equal(body.error?.reason, 'account.last_admin');
  const { items = [] } = (await app.admin('GET', '/users?role=admin&is_active=true')).body.data;
  ok(items.length >= 1, 'nobody administers');
  equal(items.length, refused.length);
  // What was refused changed nothing else.
  for (const { nickname } of items) equal(nickname, null);
});
