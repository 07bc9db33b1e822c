import ICAL from 'ical.js';
import { decodeText } from '../text/decode-text.ts';

/** A hundred years, in seconds: the library counts the days of a duration one month after the other. */
const maxEventLength = 3_155_760_000;

/** Reads the events of an invitation: what, when, where and who. Undefined if it is damaged or has none. */
export function readEvents(bytes: Uint8Array): string | undefined {
  try {
    const calendar = ICAL.Component.fromString(decodeText(bytes, undefined).text.trim());
    const events = [...calendar.getAllSubcomponents('vevent'), ...calendar.getAllSubcomponents('vtodo')];
    const isCanceled = /^cancel$/i.test(String(calendar.getFirstPropertyValue('method')));
    return events.map((event) => showEvent(event, isCanceled)).join('\n\n') || undefined;
  } catch {
    // The library throws plain errors for what it cannot parse.
    return undefined;
  }
}

function showEvent(event: ICAL.Component, isCanceled: boolean): string {
  const text = (name: string) => String(event.getFirstPropertyValue(name) ?? '').trim();
  const people = (name: string) => event.getAllProperties(name).map(showPerson).join(', ');
  const lines: [label: string, value: string][] = [
    [isCanceled ? 'Canceled event' : 'Event', text('summary')],
    ['When', showTime(event)],
    ['Where', text('location')],
    ['Organizer', people('organizer')],
    ['Attendees', people('attendee')],
    ['Repeats', text('rrule')],
    ['Except', showTimes(event.getAllProperties('exdate').flatMap(valuesOf)).join(', ')],
    ['Link', text('url')],
    ['Comment', text('comment')],
  ];
  const shown = lines.filter(([, value]) => value !== '').map(([label, value]) => `${label}: ${value.replace(/\s+/g, ' ')}`);
  return [shown.join('\n'), text('description')].filter(Boolean).join('\n\n');
}

/** From when to when, with the time zone: `2026-03-12 19:00 to 2026-03-12 20:30 (Europe/Berlin)`. */
function showTime(event: ICAL.Component): string {
  const [start, end, due] = ['dtstart', 'dtend', 'due'].map((name) => event.getFirstProperty(name));
  const first = start ?? end ?? due;
  const begin = start?.getFirstValue();
  const ends = [end?.getFirstValue(), ...endOf(event)].map((time) => lastDayOf(time, begin));
  const times = [begin, ...ends, due?.getFirstValue()].filter(Boolean);
  const shown = [...new Set(showTimes(times))];
  const zone = first?.getFirstParameter('tzid') ?? (String(first?.getFirstValue()).endsWith('Z') ? 'UTC' : undefined);
  return `${shown.join(' to ')}${zone && shown.length > 0 ? ` (${zone})` : ''}`;
}

/** When an event ends that says how long it takes. */
function endOf(event: ICAL.Component): ICAL.Time[] {
  const start = event.getFirstPropertyValue('dtstart');
  const [duration] = event.getAllProperties('duration').flatMap(valuesOf);
  if (!(start instanceof ICAL.Time && duration instanceof ICAL.Duration)) return [];
  if (duration.toSeconds() < 0 || duration.toSeconds() > maxEventLength) return [];
  const end = start.clone();
  end.addDuration(duration);
  return [end];
}

/** An event of whole days is said to end on the day behind its last one. Some programs name its last day, or its only one. */
function lastDayOf(end: unknown, start: unknown): unknown {
  if (!(end instanceof ICAL.Time && end.isDate)) return end ?? undefined;
  const day = end.clone();
  day.adjust(-1, 0, 0, 0);
  return start instanceof ICAL.Time && day.compare(start) < 0 ? start : day;
}

/** The values of a property; none if they are damaged, so that the rest of the event is read. */
function valuesOf(property: ICAL.Property): unknown[] {
  try {
    return property.getValues();
  } catch {
    return [];
  }
}

/** Times as they are written. */
function showTimes(times: unknown[]): string[] {
  return times.map((time) =>
    String(time)
      .replace('T', ' ')
      .replace(/:00Z?$/, ''),
  );
}

function showPerson(person: ICAL.Property): string {
  const address = String(person.getFirstValue() ?? '').replace(/^mailto:/i, '');
  const name = person.getFirstParameter('cn');
  const answer = String(person.getFirstParameter('partstat') ?? '').toLowerCase();
  const shown = name && name !== address ? `${name} <${address}>` : address;
  return /^(?:accepted|declined|tentative)$/.test(answer) ? `${shown} (${answer})` : shown;
}
