// Owns reading a file into a text field of a form, chosen or dropped on it. Without scripts one pastes the text.
const { say } = globalThis;
const read = async (file, field) => {
  const place = document.querySelector(`[data-chosen="${field.id}"]`);
  try {
    field.value = await file.text();
    place.textContent = say('Read from {a}.', file.name);
  } catch {
    place.textContent = say('{a} cannot be read.', file.name);
  }
  field.dispatchEvent(new Event('input', { bubbles: true }));
};

for (const input of document.querySelectorAll('input[data-into]')) {
  const field = document.getElementById(input.dataset.into);
  input.closest('label').hidden = false;
  input.addEventListener('change', async () => {
    const [file] = input.files;
    if (file) await read(file, field);
    // The same file can be chosen again after it was mended.
    input.value = '';
  });
  field.addEventListener('dragover', (event) => {
    if (event.dataTransfer.types.includes('Files')) event.preventDefault();
  });
  field.addEventListener('drop', (event) => {
    const [file] = event.dataTransfer.files;
    if (!file) return;
    event.preventDefault();
    read(file, field);
  });
}
