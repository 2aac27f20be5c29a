// Owns sealing the texts of queued and kept mails anew after a change of SECRET_KEY. Erased ones are empty.
import type { MailRecord } from '../store/collections.ts';
import type { Collection } from '../store/port.ts';
import { type Resealer, type ResealFigures, resealAll, resealText } from '../store/reseal.ts';
import { purposes } from './outbox.ts';

export function resealMails(
  { collection, sealer }: { collection: Collection<MailRecord>; sealer: Resealer },
  signal: AbortSignal,
): Promise<ResealFigures> {
  return resealAll(
    {
      collection,
      reseal(mail, id) {
        const { sealedText, sealedHtml } = mail;
        const isOld = (sealed: string): boolean => sealed !== '' && sealer.needsReseal(sealed);
        if (!isOld(sealedText) && !isOld(sealedHtml)) return undefined;
        const { text, html } = purposes(id);
        return {
          ...mail,
          sealedText: resealText(sealer, text, sealedText),
          sealedHtml: resealText(sealer, html, sealedHtml),
        };
      },
    },
    signal,
  );
}
