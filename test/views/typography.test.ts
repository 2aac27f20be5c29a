// Typography of the catalogues, as far as a program can judge it: quotes, spaces before punctuation, full-width and Arabic signs,
// and one way to address people in each language.
import { deepEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const folder = new URL('../../templates/strings/', import.meta.url);

/** Examples of what is typed into a form or sent by a program. */
const isCode = (text: string): boolean => /^\{ "|^If-Match|\bhttps: |mailto:\.$/.test(text);

function textsOf(value: unknown, key: string): [string, string][] {
  if (typeof value === 'string') return isCode(value) ? [] : [[key, value]];
  return Object.entries(value ?? {}).flatMap(([name, inner]) => textsOf(inner, `${key} ${name}`));
}

const catalogue = (name: string): [string, string][] =>
  textsOf(JSON.parse(readFileSync(new URL(name, folder), 'utf8')), '');

const EVERYWHERE = { 'three dots': /\.\.\./, 'two spaces': / {2}/, 'spaces at an end': /^ | $/ };

const RULES: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  de: {
    'quotes are „ and “': /["”«»]|(?:^|[\s(])“/,
    'apostrophe is ’': /\p{L}'\p{L}/u,
    'Sie, not du': /(?<!\p{L})(?:du|dich|dir|dein|deine|deinen|deinem|deiner)(?!\p{L})/u,
    'one word for using, one for who to turn to':
      /(?<!\p{L})benutz(?:en|t)(?!\p{L})|(?<!\p{L})Betreibers?(?!\p{L})|[Zz]weistufige/u,
  },
  es: {
    'quotes are « and »': /["“”„]/,
    'tú, not usted':
      /(?<!\p{L})(?:ustedes|usted|escriba|elija|seleccione|compruebe|añada|inténtelo|guárdel[ao]|envíel[ao])(?!\p{L})/iu,
    'one name for scopes': /(?<!\p{L})ámbitos?(?!\p{L})/iu,
    'a question or an exclamation is opened, too': /^(?![^?]*¿)[^?]*\p{L}\?|^(?![^!]*¡)[^!]*\p{L}!/u,
  },
  fr: {
    'a narrow no-break space before : ; ! ? »': /[^\u202f](?:[;!?»]|:)(?=\s|$)/,
    'a narrow no-break space behind «': /«[^\u202f]/,
    'quotes are « and »': /["“”„]/,
    'apostrophe is ’': /\p{L}'\p{L}/u,
    'vous, not tu': /(?<!\p{L})(?:tu|toi|ton|tes)(?!\p{L})/iu,
    'one name for recovery codes and for scopes': /codes? de secours|(?<!\p{L})portées?(?!\p{L})/iu,
  },
  pt: {
    'quotes are “ and ”': /["„«»]/,
    'as in Brazil':
      /(?<!\p{L})(?:utilizador|ecrã|telemóvel|palavra-passe|registar|eliminar|ficheiro|contacto|teu|tua)(?!\p{L})/iu,
    'one name for the second step, links and codes': /em duas fases|link mágico|seis números|segundo passo/i,
  },
  ja: {
    'punctuation is full-width behind Japanese': /[\u3040-\u30ff\u4e00-\u9fff」）][,.!?:;(]/,
    'parentheses are full-width around Japanese': /\([^)]*[\u3040-\u30ff\u4e00-\u9fff][^)]*\)/,
    'quotes are 「 and 」': /["“”„«»]/,
    'です・ます': /(?:である|だ)。/,
    'one name for the browser, the device, the second factor and the link':
      /ブラウザ(?!ー)|端末|[二2２] ?要素目|2 段階(?!認証|目の認証|（)|サインイン用リンク|マジックリンク/,
  },
  ar: {
    'Arabic comma, semicolon and question mark': /[\u0621-\u064a][,;?]/,
    'quotes are « and »': /["“”„]/,
    'digits as in the numbers beside them': /[٠-٩۰-۹]/,
    'one name for administrators, for units and for turning on': /مدير|مشرف|[مك]\.ب|(?<!\p{L})شغّل(?!\p{L})/u,
  },
};

for (const [language, rules] of Object.entries(RULES))
  test(`typography: ${language}`, () => {
    const texts = [...catalogue(`${language}.json`), ...catalogue(`admin/${language}.json`)];
    for (const [rule, pattern] of Object.entries({ ...EVERYWHERE, ...rules }))
      deepEqual(
        texts.filter(([, text]) => pattern.test(text)).map(([key, text]) => `${key} = ${text}`),
        [],
        rule,
      );
  });
