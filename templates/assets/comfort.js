// Owns the comforts of the Admin UI's keyboard and lists: shortcuts, the palette, ticking many. Nothing needs them.
const { say } = globalThis;
const home = document.querySelector('.top .home').pathname;
const find = document.getElementById('find');
const make = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};
const entries = [...document.querySelectorAll('.side a')].map(({ href, pathname, textContent }) => ({
  label: textContent.trim(),
  href,
  path: pathname.slice(home.length),
}));

// --- ticking -----------------------------------------------------------------------------------------------------------
for (const form of document.querySelectorAll('[data-choose]')) {
  const boxes = [...form.querySelectorAll('tbody .picker')];
  const bar = form.querySelector('.bulk');
  if (boxes.length === 0) {
    bar.hidden = true;
    continue;
  }
  const every = make('input', {
    type: 'checkbox',
    className: 'picker',
    ariaLabel: say('Select all on this page'),
  });
  form.querySelector('thead .tick-cell').replaceChildren(every);
  const tell = () => {
    const count = boxes.filter(({ checked }) => checked).length;
    bar.querySelector('output').value = count || '';
    bar.dataset.count = count;
    for (const button of bar.querySelectorAll('button')) button.disabled = count === 0;
    every.checked = count > 0 && count === boxes.length;
    every.indeterminate = count > 0 && count < boxes.length;
  };
  every.addEventListener('change', () => {
    for (const box of boxes) box.checked = every.checked;
    tell();
  });
  form.addEventListener('change', tell);
  // The back button brings ticks back.
  addEventListener('pageshow', tell);
  tell();
}

// Arrow keys walk through a list: its lines are links.
for (const table of document.querySelectorAll('table.rows')) {
  table.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined || !event.target.closest('.row')) return;
    const links = [...table.querySelectorAll('.row')];
    const next = links[links.indexOf(event.target.closest('.row')) + step];
    event.preventDefault();
    next?.focus();
  });
}
document.getElementById('search')?.addEventListener('keydown', (event) => {
  if (event.key !== 'ArrowDown') return;
  event.preventDefault();
  document.querySelector('table.rows .row')?.focus();
});

// --- dialogs -----------------------------------------------------------------------------------------------------------
const dialog = (name, label, ...children) => {
  const box = make('dialog', { className: name, ariaLabel: label }, ...children);
  document.body.append(box);
  // A press beside it closes it, as Esc does.
  box.addEventListener('click', ({ target }) => target === box && box.close());
  return box;
};

const jumps = {
  o: '',
  u: '/users',
  a: '/applications',
  // As OAuth calls them: clients.
  c: '/applications',
  s: '/sessions',
  g: '/groups',
  l: '/audit',
  t: '/settings',
};
const known = Object.entries(jumps).flatMap(([key, path]) => {
  const entry = entries.find((one) => one.path === path);
  return entry ? [{ key, ...entry }] : [];
});

let help;
const showHelp = () => {
  const rows = [
    ['/', say('Search')],
    ['Ctrl K', say('Go to a page, a user or an application')],
    ...known.map(({ key, label }) => [`g ${key}`, label]),
    ['?', say('This list')],
    ['Esc', say('Close')],
  ].map(([keys, what]) => {
    const caps = keys.split(' ').map((key) => make('kbd', { textContent: key }));
    return make('div', {}, make('dt', {}, ...caps), make('dd', { textContent: what }));
  });
  const title = make('h2', { textContent: say('Keyboard shortcuts') });
  help ??= dialog('shortcuts', say('Keyboard shortcuts'), title, make('dl', {}, ...rows));
  help.showModal();
};

// --- palette -----------------------------------------------------------------------------------------------------------
let palette;
const createPalette = () => {
  const list = make('ul', { id: 'palette-list', role: 'listbox', ariaLabel: say('Results') });
  const field = make('input', {
    type: 'text',
    role: 'combobox',
    className: 'palette-field',
    placeholder: say('Page, setting, act, user or application'),
    ariaLabel: say('Go to'),
    ariaExpanded: 'true',
    autocomplete: 'off',
    spellcheck: false,
    maxLength: 200,
  });
  field.setAttribute('aria-controls', list.id);
  const box = dialog('palette', say('Go to'), field, list);
  let chosen = 0;
  let asked = 0;
  const choose = (index) => {
    const options = [...list.children];
    chosen = options.length ? (index + options.length) % options.length : 0;
    for (const [place, option] of options.entries()) option.ariaSelected = String(place === chosen);
    if (options[chosen]) field.setAttribute('aria-activedescendant', options[chosen].id);
    else field.removeAttribute('aria-activedescendant');
    options[chosen]?.scrollIntoView({ block: 'nearest' });
  };
  const fill = (results) => {
    const options = results.map(({ label, note, href }, place) => {
      const option = make('li', { id: `palette-${place}`, role: 'option' });
      // An application's note is a word of ours; a person's is their address.
      const words = note === 'Application' ? say('Application') : note;
      option.append(make('bdi', { textContent: label }), make('small', { textContent: words }));
      option.addEventListener('click', () => location.assign(href));
      return option;
    });
    list.replaceChildren(...options);
    choose(0);
  };
  // Acts, settings and guides: asked for once, and offered when something is typed.
  let places = [];
  const learn = async () => {
    const answer = await fetch(`${home}/places`).catch(() => undefined);
    if (!answer?.ok || answer.redirected) return;
    const read = new DOMParser().parseFromString(await answer.text(), 'text/html');
    places = [...read.querySelectorAll('a')].map((link) => ({
      label: link.textContent.trim(),
      href: link.getAttribute('href'),
      note: link.closest('ul').ariaLabel,
    }));
    if (field.value.trim() && list.children.length === 0) fill(pagesFor(field.value.trim()));
  };
  const MOST = 8;
  const pagesFor = (text) => {
    const words = text.toLowerCase().split(/\s+/);
    // From the beginning of a word; anywhere where a language writes none apart.
    const isMeant = ({ label }) =>
      words.every((word) => {
        const said = ` ${label.toLowerCase()}`;
        return said.includes(` ${word}`) || (/[^ -\u024f]/.test(word) && said.includes(word));
      });
    const pages = entries
      .filter(({ label }) => label.toLowerCase().includes(text.toLowerCase()))
      .map(({ label, href }) => ({ label, href, note: say('Page') }));
    return text === '' ? pages : [...pages, ...places.filter(isMeant).slice(0, MOST)];
  };
  const ask = async (text, mine) => {
    const address = `${find.form.action}?${new URLSearchParams({ q: text })}`;
    const answer = await fetch(address, { headers: { accept: 'application/json' } }).catch(() => undefined);
    // Somebody who must sign in again gets a page instead; only the latest question counts.
    if (!answer?.ok || answer.redirected || mine !== asked) return;
    const { items } = await answer.json();
    if (mine !== asked) return;
    const found = [...pagesFor(text), ...items.map(({ path, ...item }) => ({ ...item, href: home + path }))];
    const further = `${home}/audit?${new URLSearchParams({ search: text })}`;
    fill(
      found.length ? found : [{ label: say('Search the audit log'), note: say('No results'), href: further }],
    );
  };
  let waiting;
  field.addEventListener('input', () => {
    const text = field.value.trim();
    asked += 1;
    // At once, so that Enter goes where the eye is; the server is asked when the fingers rest.
    fill(pagesFor(text));
    clearTimeout(waiting);
    if (text !== '') waiting = setTimeout(ask, 120, text, asked);
  });
  field.addEventListener('keydown', (event) => {
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (Object.hasOwn(steps, event.key)) {
      event.preventDefault();
      choose(chosen + steps[event.key]);
    } else if (event.key === 'Enter') list.children[chosen]?.click();
  });
  return {
    open() {
      field.value = '';
      fill(pagesFor(''));
      if (places.length === 0) learn();
      box.showModal();
      field.focus();
    },
  };
};

// --- keys --------------------------------------------------------------------------------------------------------------
let isGoing = false;
addEventListener('keydown', (event) => {
  const { key, target } = event;
  if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && key.toLowerCase() === 'k') {
    event.preventDefault();
    if (document.querySelector('dialog[open]')) return;
    palette ??= createPalette();
    palette.open();
    return;
  }
  const isText = target.closest(
    'input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]',
  );
  if (isText || event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]'))
    return;
  if (isGoing) {
    isGoing = false;
    const jump = known.find((one) => one.key === key);
    if (jump) location.assign(jump.href);
  } else if (key === 'g') {
    isGoing = true;
    setTimeout(() => {
      isGoing = false;
    }, 1500);
  } else if (key === '?') showHelp();
});
