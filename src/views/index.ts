// Rendering: the pages' models (pages.ts), templates, texts in seven languages (strings.ts), branding (theme.ts) and assets;
// start with views.ts. Not here: which page is shown and when is decided by the domains above; what a mail says, and to
// whom, by src/mail.
export { type ConfirmedAct, isConfirmedAct } from './confirmed-acts.ts';
export type { RequiredBy } from './enrol-page.ts';
export { fillForm, type Typed } from './fill-form.ts';
export type { FieldErrors, Text } from './form-page.ts';
export { languageCookieName, languageOfPage, readLanguages } from './language-choice.ts';
export type { Person } from './login-page.ts';
export { createMailRenderer, type LogoSize, pageStrings } from './mail-renderer.ts';
export type { ConsentScope, PageModels, PageName } from './pages.ts';
export type { ContrastPair } from './palette.ts';
export { safeLink } from './safe-urls.ts';
export { isLanguage, type Language, languages, type Strings } from './strings.ts';
export { contrastsOfTheme, fontNames, type PageLook, type Theme, themeOf } from './theme.ts';
export { createEnvironment, createViews, type SendOptions, type Views } from './views.ts';
