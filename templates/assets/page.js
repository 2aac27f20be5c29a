// Comfort: without this file every form still works.
const all = (selector) => document.querySelectorAll(selector);
const byId = (id) => document.getElementById(id);
const status = byId('status');
const offline = byId('offline');

// Opened by another name: forms of ours are refused there. What the browser shows decides, since proxies may change what we hear.
const elsewhere = byId('elsewhere');
const ours = elsewhere?.querySelector('a');
if (ours && ours.origin !== location.origin) {
  for (const form of document.forms) form.hidden = true;
  ours.href = ours.origin + location.pathname + location.search;
  document.querySelector('main')?.prepend(elsewhere);
  elsewhere.hidden = false;
}

// The answer to a form: coming back to it or reloading it would ask whether to send the form again.
const { at } = document.documentElement.dataset;
if (at) history.replaceState(history.state, '', at);

// Fields: our own words in the page's language instead of the browser's bubbles.
const problemOf = (field) => {
  const { validity, dataset, form } = field;
  if (validity.valueMissing) return (field.type === 'checkbox' && dataset.invalid) || status.dataset.missing;
  const isOther = dataset.same && field.value !== form.elements[dataset.same].value;
  const isBadAddress =
    'addresses' in dataset && field.value.split(/\s+/).some((line) => line && !URL.canParse(line));
  if (isOther || isBadAddress) return dataset.invalid;
  return validity.valid ? '' : dataset.invalid || field.validationMessage;
};
const show = (field, problem) => {
  const place = byId(`${field.id}-error`);
  if (!place) return;
  place.textContent = problem;
  if (problem) field.setAttribute('aria-invalid', 'true');
  else field.removeAttribute('aria-invalid');
};
const isFine = (form) => {
  const wrong = [...form.elements].filter((field) => {
    const problem = field.willValidate && field.type !== 'submit' ? problemOf(field) : '';
    if (field.willValidate) show(field, problem);
    return problem;
  });
  wrong[0]?.focus();
  return wrong.length === 0;
};

// Submit once. The button stays enabled, or its name and value would not be sent.
let busy;
const calm = () => {
  busy?.form.removeAttribute('data-busy');
  busy?.button?.removeAttribute('aria-busy');
  clearTimeout(busy?.timer);
  status.textContent = '';
  busy = undefined;
};
// Offline, a form would end on the browser's own error page, with what was typed. localhost answers without a network.
let reached;
const sendWhenReached = async (form, button) => {
  try {
    await fetch(document.querySelector('link[rel=icon]').href, { method: 'HEAD', cache: 'no-store' });
  } catch {
    offline.hidden = false;
    status.textContent = '';
    status.textContent = offline.textContent;
    return;
  }
  reached = form;
  form.requestSubmit(button);
};
for (const form of document.forms) {
  form.noValidate = true;
  form.addEventListener('submit', (event) => {
    const button = event.submitter;
    if (busy || !(button?.formNoValidate || isFine(form))) return event.preventDefault();
    if (!navigator.onLine && reached !== form) {
      event.preventDefault();
      return sendWhenReached(form, button);
    }
    reached = undefined;
    // What opens another tab leaves this page as it is.
    if (form.target === '_blank') return;
    form.setAttribute('data-busy', '');
    button?.setAttribute('aria-busy', 'true');
    status.textContent = status.dataset.wait;
    // A server that never answers must not lock the form for good.
    busy = { form, button, timer: setTimeout(calm, 20000) };
  });
  form.addEventListener('input', ({ target }) => {
    if (target.getAttribute('aria-invalid')) show(target, problemOf(target));
  });
  form.addEventListener('change', ({ target }) => {
    if (target.value && target.willValidate) show(target, problemOf(target));
  });
}
addEventListener('pageshow', ({ persisted }) => {
  if (!persisted) return;
  calm();
  for (const field of all('.control input[autocomplete$=password]')) field.value = '';
});

// Passwords: look at what was typed, notice Caps Lock.
for (const button of all('.reveal')) {
  const field = byId(button.getAttribute('aria-controls'));
  const reveal = (isShown) => {
    field.type = isShown ? 'text' : 'password';
    button.setAttribute('aria-pressed', isShown);
  };
  button.hidden = false;
  button.addEventListener('click', () => reveal(field.type === 'password'));
  // Sent as a password again, so that no browser keeps it as form history.
  field.form.addEventListener('submit', () => reveal(false));
  const hint = field.closest('.field').querySelector('.caps');
  const watch = (event) => {
    hint.textContent = event.getModifierState?.('CapsLock') ? hint.dataset.caps : '';
  };
  field.addEventListener('keydown', watch);
  field.addEventListener('keyup', watch);
  field.addEventListener('blur', () => {
    hint.textContent = '';
  });
}

// The way back to an application by form_post; a field called "submit" would hide the form's own method.
const leaving = document.querySelector('form[data-autosubmit]');
if (leaving) HTMLFormElement.prototype.submit.call(leaving);

// A logo that cannot be loaded gives way to the letter beneath it.
for (const image of all('.avatar img')) {
  const check = () => image.complete && !image.naturalWidth && image.remove();
  image.addEventListener('error', check);
  check();
}

for (const timer of all('[data-seconds]')) {
  const end = Date.now() + timer.dataset.seconds * 1000;
  const tick = setInterval(() => {
    const left = Math.max(0, Math.ceil((end - Date.now()) / 1000));
    timer.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
    if (left) return;
    clearInterval(tick);
    timer.parentNode.textContent = timer.dataset.done;
  }, 1000);
}

// Copy, or select where the clipboard is closed (plain http).
for (const button of all('.copy')) {
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener('click', async () => {
    const source = byId(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.textContent.trim());
    } catch {
      return getSelection().selectAllChildren(source);
    }
    button.textContent = button.dataset.done;
    status.textContent = status.dataset.copied;
    setTimeout(() => {
      button.textContent = label;
      status.textContent = '';
    }, 2000);
  });
}

// The menu of languages closes as menus do.
const menu = document.querySelector('.languages');
const close = ({ target, key }) => {
  if (menu?.open && (key ? key === 'Escape' : !menu.contains(target))) menu.open = false;
};
addEventListener('click', close);
addEventListener('keydown', close);

addEventListener('offline', () => {
  offline.hidden = false;
});
addEventListener('online', () => {
  offline.hidden = true;
});
