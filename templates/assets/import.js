// Owns the bar of an import that runs: its figures by themselves. Without this file the page comes anew every few seconds.
const EVERY_MS = 1000;
const RETRY_MS = 10_000;
const place = document.querySelector('[data-progress]');
let waiting;

const ask = async () => {
  clearTimeout(waiting);
  if (document.hidden) return;
  let next = EVERY_MS;
  try {
    const answer = await fetch(place.dataset.progress, { redirect: 'manual', cache: 'no-store' });
    // Signed out, or the import is gone: the page itself says so.
    if (answer.type === 'opaqueredirect' || [401, 403, 404].includes(answer.status)) return location.reload();
    if (!answer.ok) throw new Error(String(answer.status));
    const bar = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('#bar');
    if (bar.dataset.state !== 'running') return location.reload();
    const old = document.querySelector('#bar');
    // The same element goes on: a reader of the screen hears its changes, not a new one.
    const [mine, theirs] = [old, bar].map((one) => one.querySelector('progress'));
    mine.value = theirs.value;
    theirs.replaceWith(mine);
    old.replaceWith(bar);
  } catch {
    next = RETRY_MS;
  }
  waiting = setTimeout(ask, next);
};
document.addEventListener('visibilitychange', ask);
waiting = setTimeout(ask, EVERY_MS);
