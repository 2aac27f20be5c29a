// Owns what the Admin UI does beyond HTML. All of it is comfort: without this file everything still works.
const find = document.getElementById('find');

// The texts of this and the other scripts in the page's language (src/views/translate/script-texts.ts); English is in place.
const texts = JSON.parse(document.getElementById('texts')?.dataset.texts ?? '{}');
const forms = new Intl.PluralRules(document.documentElement.lang);
const say = (text, value) => {
  const found = Object.hasOwn(texts, text) ? texts[text] : text;
  const form = typeof found === 'string' ? found : (found[forms.select(value)] ?? found.other);
  return form.replaceAll('{a}', () => value);
};
globalThis.say = say;
const isTyping = (target) => target.closest('input, textarea, select, [contenteditable]');

// `/` searches from anywhere; on a list it narrows the list.
addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  event.preventDefault();
  const field = document.getElementById('search') ?? find;
  field.focus();
  field.select();
});

// What was just done is told once: a reload or a bookmark does not say it again.
const address = new URL(location.href);
const told = ['done', 'filled', 'shown'].filter((name) => address.searchParams.has(name));
if (told.length > 0) {
  for (const name of told) address.searchParams.delete(name);
  history.replaceState(history.state, '', address);
}

// Times read as "3 min ago"; the tip tells them in the reader's own zone.
const { lang } = document.documentElement;
for (const time of document.querySelectorAll('time[datetime]')) {
  time.title = new Date(time.dateTime).toLocaleString(lang === 'en' ? 'en-GB' : lang, {
    dateStyle: 'medium',
    timeStyle: 'medium',
  });
}

// What was typed and not saved is not lost by a slip.
for (const form of document.querySelectorAll('form[data-guard]')) {
  const stateOf = () => new URLSearchParams(new FormData(form)).toString();
  // One that came back filled in is not saved either.
  const before = 'filled' in form.dataset ? '' : stateOf();
  let isLeaving = false;
  form.addEventListener('submit', () => {
    isLeaving = true;
  });
  addEventListener('beforeunload', (event) => {
    if (!isLeaving && stateOf() !== before) event.preventDefault();
  });
}

// What Save would change, beside the button: the label, the value before and after. Secrets are only named.
for (const form of document.querySelectorAll('form[data-diff]')) {
  const list = form.querySelector('.diff');
  const unitOf = (control) => form.elements.namedItem(`unit.${control.name}`);
  const UNITS = { 86400: 'day', 3600: 'hour', 60: 'minute', 1: 'second' };
  /** In the longest unit without a rest, with the plural form of the page's language. */
  const inWords = (seconds) => {
    const size = [86400, 3600, 60].find((one) => seconds && seconds % one === 0) ?? 1;
    const format = { style: 'unit', unit: UNITS[size], unitDisplay: 'long' };
    return new Intl.NumberFormat(lang, format).format(seconds / size);
  };
  const shownIn = (control) => {
    const unit = unitOf(control);
    if (unit) return control.value.trim() ? inWords(control.value * unit.value) : say('empty');
    if (control.type === 'checkbox') return control.checked ? say('on') : say('off');
    return (control.selectedOptions?.[0]?.textContent ?? control.value).trim() || say('empty');
  };
  const controls = [...form.querySelectorAll('[name^="was."]')].flatMap(
    (was) => form.elements.namedItem(was.name.slice(4)) ?? [],
  );
  // One that came back after an error differs from what is stored, and so counts from the start.
  const stored = (control) => {
    const text = form.elements.namedItem(`was.${control.name}`).value;
    if (unitOf(control)) return inWords(Number(text));
    if (control.type === 'checkbox') return text === 'on' ? say('on') : say('off');
    const option = [...(control.options ?? [])].find(({ value }) => value === text);
    return (option?.textContent ?? text).trim() || say('empty');
  };
  const update = () => {
    const changes = controls.filter((control) =>
      control.type === 'password' ? control.value !== '' : shownIn(control) !== stored(control),
    );
    list.replaceChildren(
      ...changes.map((control) => {
        const item = document.createElement('li');
        const label =
          control.labels[0]?.textContent.trim() ||
          form.querySelector(`label[for="${control.id}"]`)?.textContent;
        const change =
          control.type === 'password' ? say('new value') : `${stored(control)} → ${shownIn(control)}`;
        item.textContent = `${label}: ${change}`;
        return item;
      }),
    );
  };
  form.addEventListener('input', update);
  update();
}

// A list that is narrowed by a choice follows it at once.
for (const form of document.querySelectorAll('form[data-pick]')) {
  form.addEventListener('change', (event) => {
    if (event.target.localName === 'select') form.requestSubmit();
  });
}

// On a phone the navigation is wider than the screen: where one is must be in view. Measured, not counted from a side: what
// `scrollLeft` begins with depends on the direction of the page.
for (const item of document.querySelectorAll('.side [aria-current], .tabs [aria-current]')) {
  const row = item.closest('nav');
  const [shown, own] = [row, item].map((one) => one.getBoundingClientRect());
  row.scrollLeft += own.left + own.width / 2 - (shown.left + shown.width / 2);
}
