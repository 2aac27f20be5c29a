// Owns passkeys on our pages: the button, autofill, making one. Without this file, or where the browser knows no passkeys,
// the other ways in still work, and the page says why this one does not.
const box = document.querySelector('[data-passkey]');
const { dataset } = box;
const button = box.querySelector('button');
const problem = box.querySelector('[role=alert]');
const purpose = dataset.passkey;
const isMaking = purpose === 'offer' || purpose === 'enrol';
const { PublicKeyCredential } = globalThis;

let loading;
const load = () => {
  loading ??= import(dataset.library).then(() => globalThis.SimpleWebAuthnBrowser);
  return loading;
};

const hidden = (name) => document.querySelector(`input[name=${name}]`)?.value;
const post = async (step, more) => {
  const remember = document.querySelector('input[name=remember]:checked')?.value;
  const response = await fetch(`${dataset.url}/${step}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({
      csrf: hidden('csrf'),
      interaction: hidden('interaction'),
      purpose,
      remember,
      ...more,
    }),
  });
  const body = await response.json();
  if (response.ok) return body;
  throw Object.assign(new Error(body.error_description), { reason: body.reason ?? 'failed', about: body });
};

const ceremony = async (isQuiet) => {
  const library = await load();
  const optionsJSON = await post('begin', isQuiet ? { mediation: 'conditional' } : {});
  const response = isMaking
    ? await library.startRegistration({ optionsJSON, useAutoRegister: isQuiet })
    : await library.startAuthentication({ optionsJSON, useBrowserAutofill: isQuiet });
  try {
    const { redirect } = await post('finish', { response });
    location.assign(redirect);
  } catch (error) {
    // So that the password manager offers it no more.
    const rpID = error.about?.rp_id;
    if (rpID && error.reason === 'passkey.unknown')
      library
        .sendSignal({ signalName: 'unknownCredential', rpID, credentialID: response.id })
        .catch(() => {});
    throw error;
  }
};

// From the second failure on, what else can be done is said in words and one press away.
let failures = 0;
const ladder = document.querySelector('.ladder');
const tell = ({ name, reason = name, about }) => {
  if (about?.redirect) return location.assign(about.redirect);
  failures += 1;
  const key = {
    NotAllowedError: 'cancelled',
    AbortError: 'cancelled',
    InvalidStateError: 'registered',
    'passkey.registered': 'registered',
    'passkey.unknown': 'unknown',
    'passkey.unverified': 'unverified',
    'signin.expired': 'expired',
  }[reason];
  const isLost = key === 'unknown' || key === 'unverified';
  const isStuck = failures > 1 && !isLost && key !== 'expired' && key !== 'registered';
  problem.querySelector('p').textContent = isStuck ? dataset.stuck : (dataset[key] ?? dataset.failed);
  problem.hidden = false;
  if (ladder && (isStuck || isLost)) ladder.hidden = false;
};

const calm = () => button.removeAttribute('aria-busy');

/** What goes wrong unasked is told only where the person has chosen a passkey. */
const listen = () => ceremony(true).catch((error) => error.reason?.startsWith('passkey.') && tell(error));

const start = async () => {
  if (!PublicKeyCredential) {
    button.hidden = true;
    box.querySelector('.absent').hidden = false;
    document.querySelector('details.other')?.setAttribute('open', '');
    if (ladder && !document.getElementById('password')) ladder.hidden = false;
    return;
  }
  const canListen =
    purpose === 'sign_in' &&
    document.querySelector('input[autocomplete$=webauthn]') &&
    (await PublicKeyCredential.isConditionalMediationAvailable?.());
  button.addEventListener('click', async () => {
    if (button.ariaBusy) return;
    problem.hidden = true;
    button.setAttribute('aria-busy', 'true');
    try {
      await ceremony(false);
    } catch (error) {
      calm();
      tell(error);
      if (canListen) listen();
    }
  });
  addEventListener('pageshow', calm);
  for (const way of document.querySelectorAll('[data-focus]'))
    way.addEventListener('click', () => document.getElementById(way.dataset.focus).focus());
  const field = document.querySelector('input[name=can_passkey]');
  if (field && (await PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable()))
    field.value = 'on';
  if (canListen) {
    listen();
    // A challenge is good for five minutes.
    setInterval(() => button.ariaBusy || listen(), 240_000);
  }
  const { conditionalCreate } = (await PublicKeyCredential.getClientCapabilities?.()) ?? {};
  if (purpose === 'offer' && conditionalCreate) listen();
};
start().catch(() => {});
