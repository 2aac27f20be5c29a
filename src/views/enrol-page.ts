// The model of the page that sets up a second step during a sign-in.
import type { FormPage } from './form-page.ts';

/** Who wants it: the application, the Admin UI, everyone's settings, or an administrator who reset what there was. */
export type RequiredBy = 'client' | 'admin' | 'everyone' | 'reset';

export interface EnrolModel extends FormPage {
  readonly interaction: string;
  readonly clientId?: string | undefined;
  readonly clientName?: string | undefined;
  readonly requiredBy?: RequiredBy | undefined;
  /** Whether a passkey may be created instead; `first` where the browser has said that it can. */
  readonly passkey?: 'first' | 'also' | undefined;
  /** For the browser's signal methods (WebAuthn §5.1.10): what an administrator removed is forgotten here. */
  readonly signals: object;
  /** The QR code with its quiet zone, as a data: URI. */
  readonly qr: string;
  /** In groups, for reading; copied without the spaces. */
  readonly secret: string;
  /** The content of the QR code; opens the app on the same phone. */
  readonly otpauthUri?: string | undefined;
  /** Whether codes by mail can be chosen instead. */
  readonly canUseEmail?: boolean | undefined;
}
