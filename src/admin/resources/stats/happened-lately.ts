// What lately happened by itself, by the audit log, for the overview: which applications began to require PKCE
// (src/clients/code-exchanges.ts), and how many accounts gave up an address.
import { AppError } from '../../../errors.ts';
import { textOf } from '../../pages/field-values.ts';
import type { AdminContext } from '../../pages/page.ts';
import { auditLog } from '../audit/resource.ts';
import { clients } from '../clients/resource.ts';

export interface PkceRequired {
  readonly clientId: string;
  readonly name: string;
}

const SHOWN_MS = 7 * 86_400_000;
const FEW = '3';

/** @returns how many further addresses accounts gave up (src/store/yielded-keys.ts) */
export async function emailsYieldedLately(context: AdminContext): Promise<number> {
  const since = new Date(context.now - SHOWN_MS).toISOString();
  return (
    await context.call(auditLog.list, { query: { event: 'email.yielded', at_from: since, limit: '1' } })
  ).data.total;
}

/** @returns some of them; none that an administrator has decided about since */
export async function pkceRequiredLately(context: AdminContext): Promise<PkceRequired[]> {
  const since = new Date(context.now - SHOWN_MS).toISOString();
  const query = { event: 'client.pkce_required', at_from: since, limit: FEW };
  const events = (await context.call(auditLog.list, { query })).data.items;
  const found = await Promise.all(
    events.map(async ({ client_id: id }) => {
      const clientId = id ?? '';
      try {
        const params = { client_id: clientId };
        const { data } = await context.call(clients.read, { params });
        if (data.pkce_required_at === null) return [];
        return [{ clientId, name: textOf(data, 'client_name') || clientId }];
      } catch (error) {
        if (error instanceof AppError && error.code === 'client.not_found') return [];
        throw error;
      }
    }),
  );
  return found.flat();
}
