import { mails } from '../store/collections.ts';
import { type Reseal, resealAll, resealText } from '../store/reseal.ts';
import { purposes } from './outbox.ts';

export const resealMails: Reseal = ({ store, sealer }, signal) =>
  resealAll(
    {
      collection: store.collection(mails),
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
