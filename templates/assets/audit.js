// Owns what the audit log does beyond HTML: events that appear by themselves, and suggestions of names. Without this file one
// reloads, and types a part of a name.
const { say } = globalThis;
const button = document.querySelector('[data-live]');
const status = document.querySelector('[data-live-status]');
const body = document.querySelector('table.rows tbody');

const EVERY_MS = 4000;
const RETRY_MS = 20_000;
const MOST_ROWS = 200;

if (button && body) {
  const label = button.querySelector('[data-live-label]');
  let isPaused = false;
  let isOver = false;
  let tag = '';
  let waiting;
  const idOf = (row) => row.querySelector('.row')?.getAttribute('href');
  const tell = (text) => {
    status.textContent = text;
  };
  const end = (text) => {
    isOver = true;
    clearTimeout(waiting);
    label.textContent = text;
    button.disabled = true;
    button.dataset.state = 'ended';
    tell(text);
  };
  const show = (html) => {
    const rows = [...new DOMParser().parseFromString(html, 'text/html').querySelectorAll('tr')];
    const known = new Map([...body.rows].map((row) => [idOf(row), row]));
    const fresh = [];
    for (const row of rows) {
      const own = known.get(idOf(row));
      // How long ago it was has changed.
      if (own) own.querySelector('time')?.replaceWith(row.querySelector('time'));
      else fresh.push(row);
    }
    for (const row of fresh) row.classList.add('fresh');
    // The reader's place stays: what is focused or selected is not replaced.
    body.prepend(...fresh);
    for (const row of [...body.rows].slice(MOST_ROWS)) row.remove();
    if (fresh.length > 0) tell(fresh.length === 1 ? say('1 new event') : say('{a} new events', fresh.length));
  };
  const ask = async () => {
    clearTimeout(waiting);
    if (isPaused || isOver || document.hidden) return;
    let next = EVERY_MS;
    try {
      const answer = await fetch(button.dataset.live, {
        headers: tag ? { 'if-none-match': tag } : {},
        redirect: 'manual',
        cache: 'no-store',
      });
      if (answer.status === 200) {
        tag = answer.headers.get('etag') ?? '';
        show(await answer.text());
      } else if (answer.type === 'opaqueredirect' || [401, 403].includes(answer.status))
        return end(say('Live view ended: you are signed out'));
      else if (answer.status !== 304) next = RETRY_MS;
    } catch {
      next = RETRY_MS;
    }
    if (!isPaused && !isOver) waiting = setTimeout(ask, next);
  };
  button.hidden = false;
  button.addEventListener('click', () => {
    isPaused = !isPaused;
    label.textContent = isPaused ? say('Resume live view') : say('Pause live view');
    button.dataset.state = isPaused ? 'paused' : '';
    tell(isPaused ? say('Live view paused') : say('Live view resumed'));
    ask();
  });
  document.addEventListener('visibilitychange', ask);
  waiting = setTimeout(ask, EVERY_MS);
}

// --- names -------------------------------------------------------------------------------------------------------------
const find = document.getElementById('find');
for (const field of document.querySelectorAll('input[data-suggest]')) {
  const kinds = field.dataset.suggest.split(' ');
  let waiting;
  let asked = 0;
  const suggest = async (text, mine) => {
    const address = `${find.form.action}?${new URLSearchParams({ q: text })}`;
    const answer = await fetch(address, { headers: { accept: 'application/json' } }).catch(() => undefined);
    if (!answer?.ok || answer.redirected || mine !== asked) return;
    const { items } = await answer.json();
    if (mine !== asked) return;
    const options = items
      .filter(({ kind }) => kinds.includes(kind))
      .map(({ label, key }) =>
        Object.assign(document.createElement('option'), {
          value: label === key ? key : `${label} (${key})`,
        }),
      );
    field.list.replaceChildren(...options);
  };
  field.addEventListener('input', () => {
    asked += 1;
    clearTimeout(waiting);
    const text = field.value.trim();
    if (text.length > 1) waiting = setTimeout(suggest, 150, text, asked);
  });
}
