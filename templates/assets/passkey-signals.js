// Owns telling password managers which passkeys are still good, and what the account is called (WebAuthn §5.1.10). Without a
// word and without waiting: where a browser does not know these methods, nothing happens.
const { rpId, userId, acceptedIds, name, displayName } = JSON.parse(
  document.querySelector('[data-signals]').dataset.signals,
);
const { PublicKeyCredential } = globalThis;
const tell = async () => {
  await PublicKeyCredential?.signalAllAcceptedCredentials?.({
    rpId,
    userId,
    allAcceptedCredentialIds: acceptedIds,
  });
  await PublicKeyCredential?.signalCurrentUserDetails?.({ rpId, userId, name, displayName });
};
tell().catch(() => {});
