// Owns the comfort of codes: a code of six digits is tidied up while it is typed or pasted and goes by itself when it is
// complete; recovery codes become a file or a sheet of paper.
const field = document.querySelector('[data-digits]');
if (field) {
  const problem = document.getElementById('code-error');
  let last = '';
  const read = ({ isComposing }) => {
    if (isComposing) return;
    // Full-width, Arabic and Persian digits begin at multiples of 16.
    const digits = field.value
      .replace(/[\uff10-\uff19\u0660-\u0669\u06f0-\u06f9]/g, (digit) => digit.charCodeAt(0) & 15)
      .replace(/\D/g, '')
      .slice(0, 6);
    if (digits !== field.value) field.value = digits;
    // What was wrong is another code now; only our own word on this one stays until it holds.
    if (!problem.textContent) field.removeAttribute('aria-invalid');
    const isNew = digits !== last;
    last = digits;
    if (isNew && digits.length === 6) field.form.requestSubmit(field.form.querySelector('.button'));
  };
  document.getElementById('code-note').hidden = false;
  field.addEventListener('input', read);
  field.addEventListener('compositionend', read);
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) field.value = last = '';
  });
}

const download = document.querySelector('[data-download]');
if (download) {
  download.hidden = false;
  download.addEventListener('click', () => {
    const codes = [...document.querySelectorAll('#codes code')].map((code) => code.textContent);
    const text = [download.dataset.title, location.host, '', ...codes, ''].join('\r\n');
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
    link.download = download.dataset.download;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  });
  const print = document.querySelector('[data-print]');
  print.hidden = false;
  print.addEventListener('click', () => window.print());
}
