// The square of a picture that is shown: by dragging it, or by three sliders. Without this file its middle is.
const form = document.querySelector('form[data-picture]');
const field = form.elements.picture;
const crop = document.getElementById('crop');
const stage = crop.querySelector('.stage');
const canvases = crop.querySelectorAll('canvas');
const [zoom, across, down] = ['zoom', 'across', 'down'].map((id) => document.getElementById(id));

const MAX_BYTES = 2 * 1024 * 1024;
const MAX_PIXELS = 24e6;
const MAX_SIDE = 10000;
/** A picture over the limits is made smaller here, which costs it nothing that would be kept. */
const SENT_SIDE = 1024;

let picture;

/** In pixels of the picture as it is seen. */
const square = () => {
  const size = Math.max(1, Math.floor((Math.min(picture.width, picture.height) * 100) / zoom.value));
  return {
    size,
    x: Math.round(((picture.width - size) * across.value) / 100),
    y: Math.round(((picture.height - size) * down.value) / 100),
  };
};
const drawOn = (canvas) => {
  const { x, y, size } = square();
  const brush = canvas.getContext('2d');
  brush.imageSmoothingQuality = 'high';
  // What is transparent becomes white, as it will be.
  brush.fillStyle = '#fff';
  brush.fillRect(0, 0, canvas.width, canvas.height);
  brush.drawImage(picture, x, y, size, size, 0, 0, canvas.width, canvas.height);
};
const draw = () => {
  for (const canvas of canvases) drawOn(canvas);
};
const start = async () => {
  const [file] = field.files;
  picture?.close();
  picture = undefined;
  try {
    if (file) picture = await createImageBitmap(file);
  } catch {
    // Not a picture, as far as this browser can tell: the server says what is wrong with it.
  }
  crop.hidden = !picture;
  if (!picture) return;
  zoom.value = 100;
  across.value = 50;
  down.value = 50;
  draw();
};

field.addEventListener('change', start);
// A browser that comes back to the page may have kept the file.
start();
for (const slider of [zoom, across, down]) slider.addEventListener('input', draw);

let held;
stage.addEventListener('pointerdown', (event) => {
  held = { left: event.clientX, top: event.clientY, ...square() };
  stage.setPointerCapture(event.pointerId);
});
stage.addEventListener('pointermove', ({ clientX, clientY }) => {
  if (!held || !stage.hasPointerCapture) return;
  const scale = held.size / stage.clientWidth;
  const move = (slider, from, room) => {
    if (room > 0) slider.value = (from / room) * 100;
  };
  move(across, held.x - (clientX - held.left) * scale, picture.width - held.size);
  move(down, held.y - (clientY - held.top) * scale, picture.height - held.size);
  draw();
});
for (const name of ['pointerup', 'pointercancel'])
  stage.addEventListener(name, () => {
    held = undefined;
  });

const hide = (name, value) => {
  const kept = form.elements[name] ?? document.createElement('input');
  Object.assign(kept, { type: 'hidden', name, value });
  form.append(kept);
};
const isOver = ({ size }) =>
  size > MAX_BYTES ||
  picture.width * picture.height > MAX_PIXELS ||
  Math.max(picture.width, picture.height) > MAX_SIDE;

form.addEventListener('submit', (event) => {
  // page.js came first, and may have refused.
  if (event.defaultPrevented || !picture) return;
  if (!isOver(field.files[0])) {
    for (const [name, value] of Object.entries(square())) hide(`crop_${name}`, value);
    return;
  }
  event.preventDefault();
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = Math.min(SENT_SIDE, square().size);
  drawOn(canvas);
  canvas.toBlob(
    (blob) => {
      const files = new DataTransfer();
      if (blob) files.items.add(new File([blob], 'picture.jpg'));
      if (blob) field.files = files.files;
      HTMLFormElement.prototype.submit.call(form);
    },
    'image/jpeg',
    0.92,
  );
});
