// The pages of the device flow (RFC 8628 §3.3). The library keeps the state; its forms have two fields, which our pages
// render.
import type { DevicePages, KoaContextWithOIDC } from '../src/oidc/sign-in.ts';
import { networkOf } from '../src/rate-limits/index.ts';
import type { InteractionDoors } from './doors.ts';

/** By name of the library's error (lib/helpers/re_render_errors.js). */
const ALERTS: Readonly<Record<string, string>> = {
  NotFoundError: 'alert.device_code_unknown',
  NoCodeError: 'alert.device_code_unknown',
  ExpiredError: 'alert.device_code_expired',
  AlreadyUsedError: 'alert.device_code_used',
  AbortedError: 'alert.device_cancelled',
};

/** The library's CSRF token, stored in the session. */
const xsrfOf = (ctx: KoaContextWithOIDC): string => String(ctx.oidc.session?.state?.secret ?? '');

export function createDevicePages({ views, basePath, clock }: InteractionDoors): DevicePages {
  const action = `${basePath}/oauth2/device`;
  return {
    input(ctx, _form, out, error) {
      // As entered, or from the address in the device's QR code (RFC 8628 §3.3.1).
      const userCode: unknown = ctx.oidc.params?.user_code ?? ctx.state.userCode;
      const isRefused = out !== undefined || error !== undefined;
      const alert = ALERTS[error?.name ?? ''] ?? 'alert.form_expired';
      views.send(
        ctx,
        'device',
        {
          action,
          xsrf: xsrfOf(ctx),
          userCode: typeof userCode === 'string' ? userCode : undefined,
          alert: isRefused ? { key: alert } : undefined,
        },
        { status: isRefused ? 400 : 200 },
      );
    },
    confirm(ctx, { userCode, clientName, scopes, api, address, startedAt, maxSeconds }) {
      views.send(ctx, 'device-confirm', {
        action,
        xsrf: xsrfOf(ctx),
        userCode,
        client: { name: clientName },
        scopes,
        api,
        address,
        // The device of a phisher is in another network, but so may be a television: the page warns, but does not refuse.
        isElsewhere: address !== '' && networkOf(address) !== networkOf(ctx.ip),
        startedAt,
        now: clock(),
        maxSeconds,
      });
    },
    done(ctx) {
      const { client } = ctx.oidc;
      views.send(
        ctx,
        'device-done',
        client ? { client: { name: client.clientName ?? client.clientId } } : {},
      );
    },
  };
}
