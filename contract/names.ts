import { singleLine } from './fields.ts';

/** Characters that turn the direction of the text around them, so that a name reads as another. */
const turning = '\\u202a-\\u202e\\u2066-\\u2069';
/** Characters of a single line that show nothing: blanks, joiners, fillers and marks. */
const invisible =
  ' \\u00a0\\u00ad\\u034f\\u061c\\u115f\\u1160\\u1680\\u17b4\\u17b5\\u180b-\\u180f\\u2000-\\u200f\\u202f\\u205f-\\u206f\\u2800\\u3000\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufff8';
const controls = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029';

const brokenLine = new RegExp(`[${controls}${turning}]+`, 'g');
const turningCharacters = new RegExp(`[${turning}]`);
const visibleCharacter = new RegExp(
  `[^${invisible}${controls}${turning}\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]`,
  'u',
);

/** Text on one line that reads as it is written: without characters that change its direction, either. */
export function plainLine(bounds: { min?: number; max: number }) {
  return singleLine(bounds)
    .refine((value) => !turningCharacters.test(value), {
      error: 'must not contain characters that change the direction of the text',
      params: { reason: 'control_characters' },
    })
    .meta({ pattern: `^[^${controls}${turning}]*$` });
}

/** The name of a user, an organization, a team, a workspace or a document: a line that shows something, and as it is written. */
export function displayName({ max }: { max: number }) {
  return plainLine({ min: 1, max })
    .refine((value) => visibleCharacter.test(value), { error: 'must have a character that can be seen' })
    .meta({ pattern: `^[^${controls}${turning}]*[^${invisible}${controls}${turning}][^${controls}${turning}]*$` });
}

/** Why somebody keeps, suspends or gives something, as others are told. */
export const reason = displayName({ max: 300 });

/** A name that nobody chose for this service, as {@link displayName} takes it: on one line, cut to `max` characters. Undefined if it shows nothing. */
export function toDisplayName(given: unknown, { max }: { max: number }): string | undefined {
  const line = String(given ?? '').replace(brokenLine, ' ');
  const name = Array.from(line.toWellFormed().trim()).slice(0, max).join('');
  return visibleCharacter.test(name) ? name : undefined;
}
