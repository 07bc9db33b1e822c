import { z } from 'zod';
import type { extraKinds as declared } from '../../contract/content-types.ts';

/** Kinds of documents beyond those that every deployment takes, by the names of `EXTRA_CONTENT_TYPES`, with their media types. */
export const extraContentTypes = {
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  odt: 'application/vnd.oasis.opendocument.text',
  epub: 'application/epub+zip',
  eml: 'message/rfc822',
  rtf: 'application/rtf',
} as const satisfies typeof declared;

type ExtraKind = keyof typeof extraContentTypes;
const names = Object.keys(extraContentTypes) as ExtraKind[];
const whole: Record<string, string[]> = { all: names, none: [] };

/** `EXTRA_CONTENT_TYPES`: the media types of the kinds that it names, each for `all`, none for `none` or if it is absent. */
export function extraKinds() {
  return z
    .string()
    .transform((list) => whole[list.trim()] ?? list.split(',').map((name) => name.trim()))
    .pipe(z.array(z.enum(names, `must be all, none, or names of ${names.join(', ')}, separated by commas`)))
    .default([])
    .transform((kinds) => [...new Set(kinds)].map((kind) => extraContentTypes[kind]));
}
