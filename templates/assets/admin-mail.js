// A provider of mail fills in where it takes it.
for (const choice of document.querySelectorAll('select[data-presets]')) {
  const { elements } = choice.form;
  choice.addEventListener('change', () => {
    const { value, dataset } = choice.selectedOptions[0];
    for (const hint of document.querySelectorAll('[data-preset]'))
      hint.hidden = hint.dataset.preset !== value;
    if (value === '') return;
    for (const name of ['host', 'port', 'encryption']) elements[name].value = dataset[name];
    if (dataset.user !== '') elements.user.value = dataset.user;
    choice.form.dispatchEvent(new Event('input', { bubbles: true }));
  });
}
