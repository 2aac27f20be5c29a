// Owns the check of redirect URIs while they are typed. The server judges by the rules of the registration itself; without this
// file it does so when the form is sent.
for (const form of document.querySelectorAll('form[data-check-uris]')) {
  const box = form.querySelector('.verdict-box');
  const field = form.elements.namedItem('redirect_uris');
  const address = form.elements.namedItem('address');
  if (!box || !field) continue;

  // What follows from the address of a product, as the server derives it when the form is sent.
  const derived = () => {
    if (!address || field.value.trim() !== '') return field.value;
    const url = URL.parse(address.value.trim());
    if (!url || !/^https?:$/.test(url.protocol)) return '';
    const base = `${url.origin}${url.pathname}`.replace(/\/+$/, '');
    return field.placeholder.replaceAll(address.dataset.base, base);
  };

  let asked = 0;
  const ask = async (mine) => {
    const body = new URLSearchParams({
      csrf: form.elements.namedItem('csrf').value,
      application_type: form.elements.namedItem('application_type').value,
      redirect_uris: derived(),
    });
    const answer = await fetch(form.dataset.checkUris, { method: 'POST', body }).catch(() => undefined);
    // Somebody who must sign in again gets a page instead; only the latest question counts.
    if (!answer?.ok || answer.redirected || mine !== asked) return;
    const list = new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById('verdicts');
    if (list && mine === asked) box.replaceChildren(list);
  };
  let waiting;
  const later = () => {
    asked += 1;
    clearTimeout(waiting);
    waiting = setTimeout(ask, 300, asked);
  };
  field.addEventListener('input', later);
  address?.addEventListener('input', later);
}
