// Owns the preview beside the form of a look, and the gallery. The server renders every page and computes every colour; without
// this file the form has a button for it, and the gallery links.

const { say } = globalThis;

// A new frame each time: one that is sent elsewhere would add to the history that "Back" goes through.
const frameAt = (address, title) => {
  const frame = document.createElement('iframe');
  frame.title = title;
  frame.setAttribute('sandbox', 'allow-same-origin');
  frame.src = address;
  return frame;
};

// What comes into view is loaded, and what is there already stays until the next one is.
const inView = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting || target.querySelector('iframe')) continue;
    const address = new URL(target.closest('[data-samples]').dataset.samples, location.href);
    address.searchParams.set('sample', target.dataset.sample);
    target.append(frameAt(address, target.dataset.title));
  }
});
for (const stage of document.querySelectorAll('.stage[data-sample]')) inView.observe(stage);

const form = document.querySelector('[data-draft]');
const panel = document.querySelector('[data-preview]');

if (panel) {
  const stage = panel.querySelector('.stage');
  const picks = panel.querySelector('form');
  const gallery = panel.querySelector('[data-gallery]');
  const status = panel.querySelector('[data-shown]');
  let isDraft = 'typed' in panel.dataset;
  const show = () => {
    const { sample, language, scheme, width } = {
      ...panel.dataset,
      ...Object.fromEntries(new FormData(picks)),
    };
    const address = new URL(panel.dataset.preview, location.href);
    for (const [name, value] of Object.entries({ sample, language, scheme }))
      address.searchParams.set(name, value);
    if (!isDraft) address.searchParams.delete('draft');
    stage.className = `stage ${width}`;
    for (const frame of stage.querySelectorAll('.next')) frame.remove();
    const before = [...stage.children];
    const next = frameAt(address, 'Preview');
    next.classList.add('next');
    next.addEventListener('load', () => {
      for (const frame of before) frame.remove();
      next.classList.remove('next');
    });
    stage.append(next);
  };
  picks.addEventListener('change', show);
  picks.addEventListener('submit', (event) => {
    event.preventDefault();
    show();
  });

  if (form) {
    const contrast = form.querySelector('[data-contrast]');
    let asked = 0;
    const ask = async (mine) => {
      const body = new URLSearchParams(new FormData(form));
      const answer = await fetch(form.dataset.draft, { method: 'POST', body }).catch(() => undefined);
      // What is half typed is not valid yet: what was shown last stays. Only the latest question counts.
      if (!answer?.ok || answer.redirected || mine !== asked) return;
      const told = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const heard = [];
      for (const list of told.querySelectorAll('[data-live]')) {
        const before = document.getElementById(list.id);
        if (contrast && before?.textContent !== list.textContent)
          for (const item of list.children)
            heard.push([...item.children].map((one) => one.textContent.trim()).join(' '));
        before?.replaceWith(list);
      }
      // Only what changed, and by a region that was there before: another would not be read out.
      if (heard.length > 0) contrast.textContent = heard.join(' ');
      isDraft = true;
      if (gallery) gallery.search = new URLSearchParams({ draft: gallery.dataset.gallery });
      status.textContent = status.dataset.shown;
      show();
    };
    let waiting;
    form.addEventListener('input', () => {
      asked += 1;
      clearTimeout(waiting);
      waiting = setTimeout(ask, 250, asked);
    });
    // The browser's own picker beside the text, which may be empty.
    for (const field of form.querySelectorAll('[data-color]')) {
      const picker = document.createElement('input');
      picker.type = 'color';
      picker.setAttribute('aria-label', say('{a}: pick', field.labels[0].textContent));
      const follow = () => {
        picker.value = /^#[0-9a-f]{6}$/i.test(field.value) ? field.value : '#888888';
        picker.classList.toggle('unset', field.value === '');
      };
      follow();
      field.addEventListener('input', follow);
      picker.addEventListener('input', () => {
        field.value = picker.value;
        picker.classList.remove('unset');
      });
      field.after(picker);
    }
  }
}
