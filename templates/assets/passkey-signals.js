// Owns telling password managers which passkeys are still good, and what the account is called (WebAuthn §5.1.10).
const { library, signals } = document.querySelector('[data-signals]').dataset;
const tell = async () => {
  if (!globalThis.PublicKeyCredential?.signalAllAcceptedCredentials) return;
  await import(library);
  const { sendSignal } = globalThis.SimpleWebAuthnBrowser;
  const { rpId: rpID, userId: userID, acceptedIds, name, displayName } = JSON.parse(signals);
  await sendSignal({
    signalName: 'allAcceptedCredentials',
    rpID,
    userID,
    allAcceptedCredentialIDs: acceptedIds,
  });
  await sendSignal({
    signalName: 'currentUserDetails',
    rpID,
    userID,
    userName: name,
    userDisplayName: displayName,
  });
};
tell().catch(() => {});
