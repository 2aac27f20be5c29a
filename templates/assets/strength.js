// Owns judging a new password while it grows. The judge and its word lists are large, so they come with the first
// letter; until then nothing is said, and where they do not come, a simple rule judges.
const load = (src) =>
  new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = src;
    script.addEventListener('load', resolve);
    script.addEventListener('error', reject);
    document.head.append(script);
  });

const simple = (password) => {
  const kinds = [/\p{Ll}/u, /\p{Lu}/u, /\d/, /[^\p{L}\d]/u].filter((kind) => kind.test(password)).length;
  const points = Math.min(password.length, 2 * new Set(password).size) + 2 * kinds;
  return points < 14 ? 1 : 2 + (points >= 18) + (points >= 23);
};

const loadJudge = async (sources) => {
  try {
    await Promise.all(sources.map(load));
    const { core, 'language-common': common } = globalThis.zxcvbnts;
    const judge = new core.ZxcvbnFactory({ dictionary: common.dictionary, graphs: common.adjacencyGraphs });
    // What follows the hundredth character takes long to judge and changes nothing.
    return (password, context) => Math.max(1, judge.check(password.slice(0, 100), context).score);
  } catch {
    return simple;
  }
};

for (const meter of document.querySelectorAll('.strength')) {
  const field = document.getElementById(meter.dataset.for);
  const labels = meter.dataset.labels.split('|');
  const context = () =>
    [...field.form.elements]
      .filter(({ autocomplete }) => /username|email/.test(autocomplete))
      .flatMap(({ value }) => [value, ...value.split(/\W+/)])
      .concat(document.querySelector('.brand').textContent.trim())
      .filter(Boolean);
  let judge;
  const show = () => {
    if (!judge) return;
    const { value, minLength } = field;
    const level = value.length < minLength ? Math.min(1, value.length) : judge(value, context());
    meter.dataset.level = level;
    meter.querySelector('output').textContent = labels[level - 1] ?? '';
  };
  let isAsked = false;
  const ask = async () => {
    if (isAsked) return;
    isAsked = true;
    judge = await loadJudge(meter.dataset.scripts.split(' '));
    show();
  };
  meter.hidden = false;
  field.addEventListener('input', ask);
  field.addEventListener('input', show);
  if (field.value) ask();
}
