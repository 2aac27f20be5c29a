// Two ways that begin elsewhere: a device with a code, and an application that asks with a wrong address.
import assert from 'node:assert/strict';
import { DEVICE_GRANT, television } from '../../support/television.ts';
import { administrator, signInAsAdmin } from './administrator.ts';
import { signIn } from './sign-in.ts';
import type { Journey, Walk } from './walk.ts';

interface Started {
  readonly address: string;
  readonly code: string;
  /** @returns the error, or undefined when the device has its tokens */
  poll(): Promise<string | undefined>;
}

async function startDevice({ world }: Walk): Promise<Started> {
  const client = await world.server.admin('POST', '/clients', television);
  async function post(path: string, fields: Record<string, string>): Promise<Record<string, string>> {
    const body = new URLSearchParams({ client_id: String(client.client_id), ...fields });
    return JSON.parse(await (await fetch(world.server.issuer + path, { method: 'POST', body })).text());
  }
  const started = await post('/device_authorization', { scope: 'openid profile' });
  return {
    address: started.verification_uri ?? '',
    code: started.user_code ?? '',
    poll: async () =>
      (await post('/token', { grant_type: DEVICE_GRANT, device_code: started.device_code ?? '' })).error,
  };
}

export const device: Journey = {
  name: 'device',
  async make(walk) {
    const { t, world, page } = walk;
    const person = await world.createPerson(walk.name);
    const { address, code, poll } = await startDevice(walk);
    assert.equal(await poll(), 'authorization_pending');
    await walk.open(address);
    await walk.arrive(t('device.title'));
    await walk.write(t('device.code'), 'WRNG-CODE');
    await walk.press(t('action.continue'));
    await walk.hear(t('device.title'), t('alert.device_code_unknown'));
    assert.equal(await page.locator('#user_code').inputValue(), 'WRNG-CODE');
    await walk.write(t('device.code'), code.toLowerCase().replace('-', ' '));
    await walk.tryOffline(t('action.continue'), { [t('device.code')]: code.toLowerCase().replace('-', ' ') });
    await walk.press(t('action.continue'));
    await walk.arrive(t('device.confirm_title'));
    assert.equal(await page.locator('.code').textContent(), code);
    await walk.press(t('device.confirm'));
    await signIn(walk, person);
    await walk.arrive(t('consent.title', { client: 'Television' }));
    await walk.press(t('consent.allow'));
    await walk.arrive(t('device.done_title'));
    assert.equal(await poll(), undefined);
    await walk.follow(t('action.to_account'));
    await walk.arrive(t('account.title'));
  },
};

export const wrongAddress: Journey = {
  name: 'wrong-address',
  async make(walk) {
    const { t, say, world, page } = walk;
    const admin = await administrator(walk);
    const application = await world.server.admin('POST', '/clients', {
      client_name: `Acme ${walk.name}`,
      redirect_uris: ['https://acme.example/callback'],
      grant_types: ['authorization_code'],
    });
    const wrong = 'https://acme.example/calback';
    const query = new URLSearchParams({
      client_id: String(application.client_id),
      response_type: 'code',
      redirect_uri: wrong,
      scope: 'openid',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    });
    await walk.open(`${world.server.issuer}/authorize?${query}`);
    await walk.arrive(t('error.title'));
    await walk.follow(page.locator('.facts a'));
    await signInAsAdmin(walk, admin);
    await walk.arrive(`Acme ${walk.name}`);
    await walk.look('asked');
    const uris = page.getByLabel(say('Redirect URIs'), { exact: true });
    assert.match(await uris.inputValue(), /calback/);
    await walk.press(page.locator('form:has(#redirect_uris) button.primary'));
    await walk.hear(`Acme ${walk.name}`, say('Changes saved.'));
    assert.match(await uris.inputValue(), /calback/);
  },
};
