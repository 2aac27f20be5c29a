// QR codes as images; the only import of qrcode.
import { toDataURL } from 'qrcode';

/** @returns a PNG as a data: URI, with the quiet zone that readers need (ISO/IEC 18004 §9.1) */
export const toQrDataUri = (text: string): Promise<string> =>
  toDataURL(text, { errorCorrectionLevel: 'M', margin: 4, scale: 6, type: 'image/png' });
