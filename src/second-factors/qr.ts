// QR codes as images; the only import of qrcode, which is loaded at the first one.

/** @returns a PNG as a data: URI, with the quiet zone that readers need (ISO/IEC 18004 §9.1) */
export async function toQrDataUri(text: string): Promise<string> {
  // A package for `require`: in the bundle it has this export alone (scripts/bundle.ts).
  const { default: qrcode } = await import('qrcode');
  return qrcode.toDataURL(text, { errorCorrectionLevel: 'M', margin: 4, scale: 6, type: 'image/png' });
}
