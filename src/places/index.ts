// Places: where an address on the internet is, by a file on this machine (GEOIP_FILE), in words of the reader's language. Nothing is
// asked of anyone, nothing is stored, and no token says it. Without the file no place is known. What is shown where is decided
// above.
import { readFile, stat } from 'node:fs/promises';
import { OperatorError } from '../errors.ts';
import { ipBytes } from '../ip-bytes.ts';
import { openDatabase, type PlaceDatabase, UnusableFile } from './database.ts';

/** @returns such as "Berlin, Germany"; undefined: unknown. @param language BCP 47 */
export type PlaceOf = (ipAddress: string, language: string) => string | undefined;

/** It is in memory as a whole; the largest that are sold for this have 130 MB. */
const MAX_BYTES = 512 * 1024 * 1024;
const MAX_NAME = 100;

const member = (value: unknown, name: string): unknown =>
  value instanceof Map ? value.get(name) : undefined;

/** A name that someone may read: short, of one line, and visible. */
const nameIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= MAX_NAME && !/[\p{C}\p{Zl}\p{Zp}]/u.test(value)
    ? value
    : undefined;

/** Files name cities in some languages, countries by their code (ISO 3166-1). */
function cityOf(record: unknown, language: string): string | undefined {
  const city = member(record, 'city');
  const names = member(city, 'names');
  const primary = language.split(/[-_]/, 1)[0] ?? '';
  const tags = [language, primary, ...(primary === 'pt' ? ['pt-BR'] : []), 'en'];
  return nameIn(city) ?? tags.map((tag) => nameIn(member(names, tag))).find((name) => name !== undefined);
}

function countryOf(record: unknown, language: string): string | undefined {
  const country = member(record, 'country') ?? member(record, 'registered_country');
  const code = member(country, 'iso_code') ?? member(record, 'country_code') ?? country;
  if (typeof code !== 'string' || !/^[A-Z]{2}$/.test(code)) return undefined;
  return new Intl.DisplayNames([language], { type: 'region' }).of(code);
}

const separators: Readonly<Record<string, string>> = { ar: '، ', ja: '、' };

/** A language that a browser or a person made up reads English. */
const known = (language: string): string => {
  const [supported = 'en'] = /^[A-Za-z0-9-]{2,35}$/.test(language)
    ? Intl.DisplayNames.supportedLocalesOf([language])
    : [];
  return supported;
};

function createPlaceOf(database: PlaceDatabase): PlaceOf {
  return (ipAddress, wanted) => {
    const bytes = ipBytes(ipAddress);
    const record = bytes && database.find(Uint8Array.from(bytes));
    if (record === undefined) return undefined;
    const language = known(wanted);
    const parts = [cityOf(record, language), countryOf(record, language)].filter(
      (part) => part !== undefined,
    );
    return parts.join(separators[language.slice(0, 2)] ?? ', ') || undefined;
  };
}

/**
 * @param path of a file in MaxMind's format; undefined: no place is ever known
 * @throws OperatorError naming GEOIP_FILE, and what is wrong with the file
 */
export async function openPlaces(path: string | undefined): Promise<PlaceOf> {
  if (path === undefined) return () => undefined;
  const refuse = (what: string, cause?: unknown): never => {
    throw new OperatorError(
      `GEOIP_FILE: ${path} ${what}. Set it to a city or country database in MaxMind's format (.mmdb), or leave it out.`,
      { cause },
    );
  };
  try {
    const about = await stat(path);
    // Not a pipe or device either, which would never end.
    if (!about.isFile()) return refuse('is no file');
    if (about.size > MAX_BYTES) return refuse(`is larger than ${MAX_BYTES / 1024 / 1024} MB`);
    return createPlaceOf(openDatabase(await readFile(path)));
  } catch (error) {
    if (error instanceof UnusableFile) return refuse(error.message, error);
    if (error instanceof OperatorError) throw error;
    return refuse(
      `cannot be read (${error instanceof Error && 'code' in error ? error.code : error})`,
      error,
    );
  }
}
