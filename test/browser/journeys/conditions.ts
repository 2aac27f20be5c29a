// The conditions in which people make journeys: how wide, how light, in which language, by what means.

const WIDTHS = [320, 390, 1440] as const;
const LANGUAGES = ['en', 'ar'] as const;
/** `keyboard`: nothing is ever clicked. `no-script`: with the mouse, and without JavaScript. */
const MEANS = ['mouse', 'keyboard', 'no-script'] as const;

export interface Condition {
  readonly width: (typeof WIDTHS)[number];
  readonly scheme: 'light' | 'dark';
  readonly language: (typeof LANGUAGES)[number];
  readonly means: (typeof MEANS)[number];
}

/** Every width in every language by every means, the schemes in turn: each page on the way is looked at in both. */
export const ALL: readonly Condition[] = MEANS.flatMap((means, one) =>
  LANGUAGES.flatMap((language, other) =>
    WIDTHS.map((width, at) => ({
      width,
      scheme: (one + other + at) % 2 === 0 ? ('dark' as const) : ('light' as const),
      language,
      means,
    })),
  ),
);

export const nameOf = ({ width, scheme, language, means }: Condition): string =>
  `${width} ${scheme} ${language} ${means}`;
