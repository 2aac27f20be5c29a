// Renders mail templates: subject, plain text and HTML, in the language that is asked for.

import { mailColors } from './mail-colors.ts';
import { chooseLanguage, direction, loadStrings } from './strings.ts';
import { accentOf, type Theme } from './theme.ts';
import { createEnvironment, templates, textFunctions } from './views.ts';

interface RenderedMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

type TextFunctions = ReturnType<typeof textFunctions>;

/** How large the logo is shown, in CSS pixels; the picture itself is attached when the mail is sent (src/mail/compose.ts). */
export interface LogoSize {
  readonly width: number;
  readonly height: number;
}

/** The model may depend on the language (BCP 47), which is one that there are texts for. */
type RenderMailTemplate = (
  template: string,
  languageTag: string | undefined,
  modelIn: (language: string, t: TextFunctions['t']) => object,
  logo?: LogoSize,
) => RenderedMail;

/** @param theme returns the current branding; called for every mail */
export function createMailRenderer({ theme }: { theme: () => Theme }): RenderMailTemplate {
  const html = createEnvironment({ isHtml: true });
  const text = createEnvironment({ isHtml: false });
  const strings = loadStrings(new URL('strings/', templates));
  return (template, languageTag, modelIn, logo) => {
    const language = chooseLanguage(languageTag, languageTag);
    const brand = theme();
    const texts = textFunctions(strings, language);
    const model = {
      ...texts,
      ...modelIn(language, texts.t),
      language,
      direction: direction(language),
      brand,
      logo,
      light: mailColors(accentOf(brand), 'light'),
      dark: mailColors(accentOf(brand), 'dark'),
    };
    const name = `mail/${template}.njk`;
    const plain = (layout: string): string =>
      text.render(name, { ...model, named: texts.t, layout: `mail/${layout}` });
    return {
      subject: plain('layout.subject.njk').trim(),
      text: `${plain('layout.text.njk')
        .replace(/\n{3,}/g, '\n\n')
        .trim()}\n`,
      html: html
        .render(name, { ...model, named: texts.rich, layout: 'mail/layout.html.njk' })
        .replace(/\n\s*\n/g, '\n')
        .trimStart(),
    };
  };
}
