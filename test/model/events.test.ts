// The table of events: what it does not say does not compile, and what it says exists.
import { deepEqual, ok } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { RecordedEvent } from '../../src/events/index.ts';
import type { EventRow } from '../../src/model/events/event-row.ts';
import { classOfEvent, eventNames, eventRows } from '../../src/model/events/events.ts';
import { mailNames } from '../../src/model/mails.ts';

const root = new URL('../../', import.meta.url);

/** `true` only where the compiler takes no `Given` for a `Wanted`. */
type Refused<Given, Wanted> = Given extends Wanted ? false : true;
type Said = { readonly label: string; readonly sentence: string; readonly class: 'general' };

test('events: an unknown name, and a row that leaves something out, do not compile', () => {
  const unknown: Refused<{ event: 'user.on_fire' }, RecordedEvent> = true;
  const noClass: Refused<Omit<Said, 'class'>, EventRow> = true;
  const noLabel: Refused<Omit<Said, 'label'>, EventRow> = true;
  const noSentence: Refused<Omit<Said, 'sentence'>, EventRow> = true;
  const noSuchMail: Refused<Said & { readonly notice: 'fire' }, EventRow> = true;
  const whole: Refused<Said & { readonly notice: 'test' }, EventRow> = false;
  deepEqual(
    [unknown, noClass, noLabel, noSentence, noSuchMail, whole],
    [true, true, true, true, true, false],
  );
});

test('events: every one is recorded, but for one', () => {
  const text = ['src', 'interactions']
    .flatMap((folder) =>
      readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts') && !name.startsWith('model'))
        .map((name) => readFileSync(new URL(`${folder}/${name}`, root), 'utf8')),
    )
    .join('\n');
  deepEqual(
    eventNames.filter((name) => !text.includes(`'${name}'`)),
    // Published once; an import of a look is a change of it.
    ['branding.imported'],
  );
});

test('events: each that owners see has its text', () => {
  const texts: Record<string, string> = JSON.parse(
    readFileSync(new URL('templates/strings/en.json', root), 'utf8'),
  );
  const shown = Object.values(eventRows).flatMap(({ activity }) => activity ?? []);
  ok(shown.length > 30);
  deepEqual(
    shown.filter((kind) => texts[`activity.${kind}`] === undefined),
    [],
  );
  const known = Object.keys(texts).filter((key) => /^activity\.[a-z_]+$/.test(key));
  ok(known.length > 0);
});

test('events: one of a later version is of the general class', () => {
  deepEqual(['token.refused', 'user.created', 'later.version'].map(classOfEvent), [
    'tokens',
    'general',
    'general',
  ]);
});

test('mails: each has its template, and each template is a mail', () => {
  const files = readdirSync(new URL('templates/mail/', root))
    .filter((name) => /^[a-z_]+\.njk$/.test(name))
    .map((name) => name.replace('.njk', ''));
  deepEqual([...mailNames].sort(), files.filter((name) => name !== 'layout').sort());
});
