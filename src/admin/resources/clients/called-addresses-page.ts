// The part of an application's page about the addresses that this server calls: whether it can, their approval by an
// administrator, the last logout tokens, and a test of them.
import { refusalOf, versionOf } from '../../pages/field-values.ts';
import { type AdminContext, idOf, type Page, post } from '../../pages/page.ts';
import { clientDeliveries } from './deliveries.ts';
import { showApplication } from './page.ts';
import { clients } from './resource.ts';

/** Asks for the addresses that are to be approved, given those that are. */
type Choose = (approved: readonly string[], address: string) => string[];

/** The approval is of the address on the page that was shown: not of what the application registered since. */
const setApproval = (choose: Choose, notice: string) => async (context: AdminContext) => {
  const { id } = idOf(context);
  const params = { client_id: id };
  const address = context.form.get('address') ?? '';
  try {
    const { data } = await context.call(clients.read, { params });
    const wanted = choose(data.approved_addresses, address);
    const { data: changed } = await context.call(clients.change, {
      params,
      ifVersion: versionOf(context.form),
      body: { approved_addresses: wanted },
    });
    if (wanted.every((one) => changed.approved_addresses.includes(one))) {
      context.go(`/applications/${encodeURIComponent(id)}`, notice);
      return;
    }
    const alert = 'The application has no such address. Approve one that is shown below.';
    await showApplication(context, { alert }, 400);
  } catch (error) {
    const { status, alert, errors } = refusalOf(error);
    await showApplication(context, { alert, errors }, status);
  }
};

const approve: Choose = (approved, address) => [...new Set([...approved, address])];
const withdraw: Choose = (approved, address) => approved.filter((one) => one !== address);

async function sendTest(context: AdminContext): Promise<void> {
  const { id } = idOf(context);
  try {
    const { data } = await context.call(clientDeliveries.test, { params: { client_id: id } });
    context.go(
      `/applications/${encodeURIComponent(id)}`,
      data.state === 'delivered' ? 'logout-test-delivered' : 'logout-test-failed',
    );
  } catch (error) {
    const { status, alert, errors } = refusalOf(error);
    await showApplication(context, { alert, errors }, status);
  }
}

export const calledAddressPages: readonly Page[] = [
  post('/applications/:id/approve-address', setApproval(approve, 'address-approved')),
  post('/applications/:id/withdraw-approval', setApproval(withdraw, 'approval-withdrawn')),
  post('/applications/:id/test-logout', sendTest),
];
