// Renders mail templates: subject, plain text and HTML, in the language that is asked for.

import { mailColors } from './mail-colors.ts';
import { chooseLanguage, direction, loadStrings, type Strings } from './strings.ts';
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

/** The texts as shipped. */
export const pageStrings = (): Strings => loadStrings(new URL('strings/', templates));

/** By language and `<mail>.<text>`. */
type OwnTexts = Readonly<Record<string, Readonly<Record<string, string>>>>;

const OF_MAILS = 'mail.';

/** An administrator's own text goes before the shipped one, of the texts of mails alone. */
const withOwn = (strings: Strings, own: OwnTexts | undefined): Strings => ({
  find(language, key) {
    const texts = own !== undefined && Object.hasOwn(own, language) ? own[language] : undefined;
    const name = key.startsWith(OF_MAILS) ? key.slice(OF_MAILS.length) : '';
    return texts !== undefined && Object.hasOwn(texts, name) ? texts[name] : strings.find(language, key);
  },
  problem: strings.problem,
});

/**
 * @param theme returns the current branding; called for every mail
 * @param ownTexts what an administrator wrote in place of shipped texts; called for every mail
 */
export function createMailRenderer({
  theme,
  ownTexts,
}: {
  theme: () => Theme;
  ownTexts?: (() => OwnTexts | undefined) | undefined;
}): RenderMailTemplate {
  const html = createEnvironment({ isHtml: true });
  const text = createEnvironment({ isHtml: false });
  const strings = pageStrings();
  return (template, languageTag, modelIn, logo) => {
    const language = chooseLanguage(languageTag, languageTag);
    const brand = theme();
    const shipped = textFunctions(withOwn(strings, ownTexts?.()), language);
    // A text of one's own may name the product where the shipped one does not.
    const named = { product: brand.productName };
    const texts: TextFunctions = {
      ...shipped,
      t: (key, values) => shipped.t(key, { ...named, ...values }),
      rich: (key, values) => shipped.rich(key, { ...named, ...values }),
    };
    const closing = `mail.${template}.closing`;
    const model = {
      closing: texts.has(closing) ? texts.t(closing) : '',
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
