// Dates are written alike on all pages and in mails. English has the day first, as most of its readers abroad do: "24 Feb 2027".

export const dateFormat = (language: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, options);
