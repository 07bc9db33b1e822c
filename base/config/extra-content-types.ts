import { z } from 'zod';
import { extraKinds as extraContentTypes } from '../../contract/content-types.ts';

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
