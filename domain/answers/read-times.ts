/** A time of day. Its readings are its minutes after midnight and, if it does not say which half of the day, its own text. */
interface WrittenTime {
  start: number;
  end: number;
  readings: string[];
}

const half = '(?: ?([ap])\\.? ?m\\b\\.?)';
const forms = [
  new RegExp(`(?<![\\d.,:])(\\d{1,2}):(\\d\\d)(?::\\d\\d)?(?![\\d:])${half}?`, 'giu'),
  /(?<![\d.,:])(\d{1,2})(?:[.](?=\d\d ?(?:Uhr|h)(?!\p{L}))|h ?)(\d\d)(?!\d)(?: ?(?:Uhr|h)(?!\p{L}))?/giu,
  new RegExp(`(?<![\\d.,:])(\\d{1,2})()${half}`, 'giu'),
  /(?<![\d.,:])(\d{1,2})() ?(?:Uhr|heures?|o'clock)(?!\p{L})/giu,
];

/** The times of day in a plain text: 13:30, 1:30 p.m., 13h30, 14 Uhr. */
export function readTimes(text: string): WrittenTime[] {
  const found: WrittenTime[] = [];
  for (const { 0: token, 1: hours = '', 2: minutes = '', 3: part, index } of forms.flatMap((form) => [...text.matchAll(form)])) {
    const [start, end] = [index, index + token.length];
    const [hour, minute] = [Number(hours), Number(minutes || 0)];
    if (hour > 24 || minute > 59 || found.some((other) => start < other.end && other.start < end)) continue;
    const shift = part === undefined ? 0 : (hour % 12) - hour + (part.toLowerCase() === 'p' ? 12 : 0);
    const exact = `at ${(hour + shift) * 60 + minute}`;
    found.push({ start, end, readings: part === undefined ? [exact, `${hour}:${minutes}`] : [exact] });
  }
  return found;
}
