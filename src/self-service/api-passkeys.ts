import { AppError, invalid } from '../errors.ts';
import type { OwnPasskey, PasskeySignals } from '../passkeys/index.ts';
import type { Acts } from './acts.ts';
import type { Call, Handle } from './api-call.ts';
import { iso, list } from './api-shapes.ts';
import type { SelfServiceDoors } from './doors.ts';
import type { SelfServiceUser } from './page-kit.ts';

const show = (one: OwnPasskey): object => ({
  id: one.id,
  label: one.label,
  kind: one.kind,
  is_synced: one.isSynced,
  created_at: iso(one.createdAt),
  last_used_at: iso(one.lastUsedAt),
  can_remove: one.canRemove,
});

/** What the browser's signal methods take (WebAuthn §5.1.10). */
const showSignals = ({ rpId, userId, acceptedIds, name, displayName }: PasskeySignals): object => ({
  rp_id: rpId,
  user_id: userId,
  accepted_ids: acceptedIds,
  name,
  display_name: displayName,
});

/** Not the page's: what was begun here ends here, in the same session. */
const boundTo = ({ sessionUid }: SelfServiceUser): string => `account API, session ${sessionUid}`;

export function passkeyHandlers({ accounts }: SelfServiceDoors, { passkeys }: Acts) {
  async function finish({ ctx, who, readObject }: Call): Promise<object> {
    const response = await readObject('response');
    let id: string;
    try {
      ({ id } = await passkeys.add(ctx, who, { boundTo: boundTo(who), response }));
    } catch (error) {
      // On the page it answers 401, which would tell an application that its token is no longer accepted.
      if (!(error instanceof AppError) || error.code !== 'passkey.refused') throw error;
      throw invalid({ response: 'This passkey was not accepted. Begin again.' });
    }
    const account = await accounts.find(who.account.id);
    const added = account && (await passkeys.list(account)).find((one) => one.id === id);
    // Removed in the same moment, by someone else.
    if (account === undefined || added === undefined) throw new AppError('passkey.not_found');
    return { passkey: show(added), signals: showSignals(passkeys.signals(account)) };
  }

  return {
    'GET /passkeys': async ({ who: { account } }) => ({
      ...list((await passkeys.list(account)).map(show)),
      signals: showSignals(passkeys.signals(account)),
    }),
    'POST /passkeys/register/begin': ({ who }) => passkeys.begin(who.account, boundTo(who)),
    'POST /passkeys/register/finish': finish,
    'PATCH /passkeys/:id': async ({ who, id, read }) => {
      const { label = '' } = await read(['label']);
      await passkeys.rename(who.account, id, label);
    },
    'DELETE /passkeys/:id': ({ ctx, who, id }) => passkeys.remove(ctx, who, id),
  } as const satisfies Record<string, Handle>;
}
