// Renders mail templates: subject, plain text and HTML, in the language that is asked for.
import { chooseLanguage, direction, loadStrings } from './strings.ts';
import { buttonColors, type Theme } from './theme.ts';
import { createEnvironment, templates, textFunctions } from './views.ts';

interface RenderedMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** The model may depend on the language (BCP 47), which is one that there are texts for. */
type RenderMailTemplate = (
  template: string,
  languageTag: string | undefined,
  modelIn: (language: string) => object,
) => RenderedMail;

/** @param theme returns the current branding; called for every mail */
export function createMailRenderer({ theme }: { theme: () => Theme }): RenderMailTemplate {
  const html = createEnvironment({ isHtml: true });
  const text = createEnvironment({ isHtml: false });
  const strings = loadStrings(new URL('strings/', templates));
  return (template, languageTag, modelIn) => {
    const language = chooseLanguage(languageTag, languageTag);
    const brand = theme();
    const model = {
      ...textFunctions(strings, language),
      ...modelIn(language),
      language,
      direction: direction(language),
      brand,
      buttonColors: buttonColors(brand.accentColor),
    };
    const name = `mail/${template}.njk`;
    const plain = (layout: string): string => text.render(name, { ...model, layout: `mail/${layout}` });
    return {
      subject: plain('layout.subject.njk').trim(),
      text: `${plain('layout.text.njk')
        .replace(/\n{3,}/g, '\n\n')
        .trim()}\n`,
      html: html.render(name, { ...model, layout: 'mail/layout.html.njk' }),
    };
  };
}
