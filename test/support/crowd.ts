// Data for tests of size: users as in a company (names, addresses, groups, some locked or deactivated), the same each time, and a
// way to put a million documents into an embedded database in a minute.
import { DatabaseSync } from 'node:sqlite';
import { toDocument } from '../../adapters/document.ts';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { toCells, toTable } from '../../adapters/sqlite/table.ts';
import { allCollections } from '../../src/store/all-collections.ts';
import type { AccountRecord, AuditRecord, SessionRecord } from '../../src/store/collections.ts';
import type { CollectionDefinition, Stored } from '../../src/store/port.ts';
import type { ProtocolPayload } from '../../src/store/records.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const givenNames =
  'Ada Alan Alma Amir Ana Anders Aoi Astrid Beatriz Ben Bianca Björn Carlos Chen Chloé Clara Daan Dmitri Diego Elena Emma Erik Fatima Felix Femke Finn Giulia Grace Hana Hans Helga Hugo Ines Ivan Jakub Jana Javier Jens Joana João Jonas Julia Kaito Karl Katja Kenji Lars Laura Layla Leon Lina Lucas Luna Mads Maja Malik Marco Maria Marta Mateo Mei Mia Milan Mohammed Nadia Nina Noah Nora Olga Oliver Omar Paula Pavel Pedro Petra Priya Rafael Raj Rosa Ryo Sakura Sara Sean Selma Sofia Sven Tara Theo Tom Uma Valentina Vera Viktor Wei Yara Yuki Yusuf Zoe'.split(
    ' ',
  );
const familyNames =
  'Adams Ahmed Almeida Andersen Bakker Bauer Becker Berg Bianchi Brown Carvalho Castro Chen Clark Costa Cruz Dahl Davies Diaz Dubois Eriksen Evans Fernandez Ferrari Fischer Fontaine Garcia Gonzalez Green Gruber Haas Hall Hansen Hartmann Hernandez Hoffmann Holm Horvat Huang Ito Ivanov Jansen Jensen Johansson Jones Kaya Keller Khan Kim Klein Kobayashi Koch Kowalski Larsen Laurent Lee Lewis Li Lind Lopez Martin Martinez Meyer Moreau Mori Müller Nakamura Nguyen Nielsen Novak Olsen Patel Pereira Petit Popov Richter Rossi Roux Ruiz Sanchez Sato Schmidt Schneider Schulz Silva Singh Smith Suzuki Svensson Tanaka Taylor Thomas Torres Virtanen Visser Wagner Walker Wang Weber White Wilson Wolf Wright Yamamoto Yilmaz Young Zhang Zimmermann'.split(
    ' ',
  );
const domains = ['example.com', 'example.org', 'mail.example', 'staff.example.net'];
const events = ['signin.success', 'token.issued', 'session.ended', 'signin.failure', 'user.updated'] as const;

/** Mulberry32: the same numbers each time. */
export function createChance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const hex = (chance: () => number, length: number): string =>
  Array.from({ length: length / 4 }, () =>
    Math.floor(chance() * 65_536)
      .toString(16)
      .padStart(4, '0'),
  ).join('');

const uuid = (chance: () => number): string => {
  const digits = hex(chance, 32);
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20)}`;
};
const pick = <T>(chance: () => number, from: readonly [T, ...T[]] | readonly T[], otherwise: T): T =>
  from[Math.floor(chance() * from.length)] ?? otherwise;
const plain = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/[^A-Za-z]/g, '')
    .toLowerCase();

/** @param passwordHash of everyone; @returns as many people, none twice */
export function* people(
  count: number,
  { now, passwordHash }: { now: number; passwordHash: string },
): Generator<Stored<AccountRecord>> {
  const chance = createChance(1);
  for (let n = 0; n < count; n += 1) {
    const [given, family] = [pick(chance, givenNames, 'Ada'), pick(chance, familyNames, 'Smith')];
    const username = `${plain(given)}.${plain(family)}${n}`;
    const email = `${username}@${pick(chance, domains, 'example.com')}`;
    const createdAt = now - Math.floor(chance() * 1_000 * DAY);
    const seenAt = createdAt + Math.floor(chance() * (now - createdAt));
    const isLocked = chance() < 0.002;
    const groups = Array.from(
      { length: Math.floor(chance() ** 2 * 4) },
      () => `team-${Math.floor(chance() * 40)}`,
    );
    if (n % 200_000 === 7) groups.push('board');
    const value: AccountRecord = {
      username,
      usernameKey: username,
      email,
      emailKey: email,
      isEmailVerified: chance() < 0.8,
      role: n % 100_000 === 3 ? 'admin' : n % 50_000 === 4 ? 'auditor' : 'user',
      passwordHash,
      passwordChangedAt: createdAt,
      isActive: chance() > 0.03,
      failedLoginAttempts: 0,
      lockCount: isLocked ? 1 : 0,
      ...(isLocked && { lockedUntil: now + (chance() < 0.2 ? DAY : -DAY) }),
      ...(chance() < 0.7 && { lastLoginAt: seenAt }),
      totpVerified: chance() < 0.2,
      profile: { name: `${given} ${family}`, given_name: given, family_name: family, locale: 'en' },
      ...(groups.length > 0 && { groups: [...new Set(groups)].sort() }),
      createdAt,
      updatedAt: seenAt,
    };
    yield { id: uuid(chance), version: 1, value };
  }
}

const address = (chance: () => number): string =>
  `198.51.${Math.floor(chance() * 256)}.${Math.floor(chance() * 256)}`;
const userAgent =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

/** What happened over the last hundred days, in order. */
export function* history(count: number, { now }: { now: number }): Generator<Stored<AuditRecord>> {
  const chance = createChance(2);
  const start = now - 100 * DAY;
  for (let n = 0; n < count; n += 1) {
    const at = Math.floor(start + (n / count) * 100 * DAY);
    const time = at.toString(16).padStart(12, '0');
    const low = hex(chance, 20);
    const event = pick(chance, events, 'signin.success');
    const person = `person-${Math.floor(chance() * 100_000)}`;
    yield {
      id: `${time.slice(0, 8)}-${time.slice(8)}-7${low.slice(0, 3)}-8${low.slice(3, 6)}-${low.slice(6, 18)}`,
      version: 1,
      value: {
        at,
        event,
        outcome: event === 'signin.failure' ? 'failure' : 'success',
        actorKind: 'user',
        actorId: person,
        targetKind: 'user',
        targetId: person,
        clientId: `client-${Math.floor(chance() * 20)}`,
        ipAddress: address(chance),
        userAgent,
        requestId: hex(chance, 16),
      },
    };
  }
}

/** Of the last month; one in fifty can still be used. */
export function* pastSessions(count: number, { now }: { now: number }): Generator<Stored<SessionRecord>> {
  const chance = createChance(3);
  for (let n = 0; n < count; n += 1) {
    const createdAt = now - Math.floor(chance() * 30 * DAY);
    const isLive = n % 50 === 0;
    const lastActivityAt = isLive
      ? now - Math.floor(chance() * HOUR)
      : createdAt + Math.floor(chance() * HOUR);
    yield {
      id: hex(chance, 24),
      version: 1,
      value: {
        accountId: `person-${Math.floor(chance() * 100_000)}`,
        ipAddress: address(chance),
        userAgent,
        amr: ['pwd'],
        clientIds: [`client-${Math.floor(chance() * 20)}`],
        createdAt,
        lastActivityAt,
        expiresAt: lastActivityAt + 4 * HOUR,
        ...(!isLive && chance() < 0.5 && { endedAt: lastActivityAt }),
      },
    };
  }
}

/** Half of them used up by rotation, as they are kept to find a thief. */
export function* pastRefreshTokens(
  count: number,
  { now }: { now: number },
): Generator<Stored<ProtocolPayload>> {
  const chance = createChance(4);
  for (let n = 0; n < count; n += 1) {
    const iat = Math.floor((now - chance() * 25 * DAY) / 1000);
    const isUsed = chance() < 0.5;
    yield {
      id: hex(chance, 40),
      version: 1,
      expiresAt: (iat + 30 * 86_400) * 1000,
      value: {
        iat,
        exp: iat + 30 * 86_400,
        accountId: `person-${Math.floor(chance() * 100_000)}`,
        clientId: `client-${Math.floor(chance() * 20)}`,
        grantId: hex(chance, 40),
        sessionUid: hex(chance, 24),
        scope: 'openid offline_access profile email',
        kind: 'RefreshToken',
        ...(isUsed && { consumed: iat + 900 }),
      },
    };
  }
}

/**
 * Writes documents past the store, into a file that no one uses: without its indexes and triggers, which its next opening makes.
 * @param file of an embedded store; made when missing
 */
export async function fill<T>(
  file: string,
  definition: CollectionDefinition<T>,
  documents: Iterable<Stored<T>>,
): Promise<void> {
  const open = () => createSqliteStore({ file, clock: Date.now, definitions: allCollections });
  await open().close();
  const table = toTable(definition);
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; BEGIN');
    for (const { name } of table.indexes) database.exec(`DROP INDEX IF EXISTS "${name}"`);
    for (const { name } of table.search?.create.slice(1) ?? [])
      database.exec(`DROP TRIGGER IF EXISTS "${name}"`);
    const columns = ['id', 'version', 'expires_at', 'value', ...table.columns.map(({ name }) => name)];
    const insert = database.prepare(
      `INSERT INTO ${table.sql} (${columns}) VALUES (?${', ?'.repeat(columns.length - 1)})`,
    );
    for (const { id, version, expiresAt, value } of documents) {
      const document = toDocument(definition, value);
      insert.run(id, version, expiresAt ?? null, document.text, ...toCells(definition, document));
    }
    database.exec('COMMIT');
  } finally {
    database.close();
  }
  await open().close();
}
