// Owns telling the server that this browser can create passkeys, so that one is offered once the account exists.
const field = document.querySelector('input[name=can_passkey]');
const check = async () => {
  if (await globalThis.PublicKeyCredential?.isUserVerifyingPlatformAuthenticatorAvailable?.())
    field.value = 'on';
};
if (field) check().catch(() => {});
