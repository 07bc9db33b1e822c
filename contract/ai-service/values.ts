import { z } from 'zod';
import { countCharacters, isStorable } from '../characters.ts';

export const maxTextLength = 8_000;
export const maxNameLength = 1_000;
export const maxQuestionLength = 2_000;
export const maxPassages = 50;

/** Whose work a request is: those who wait for a reader get it in turn, tenant by tenant. Any text; without it nobody is preferred. */
export const tenantHeader = 'x-tenant';

export const count = z.int().min(0);

/** A text that Postgres stores. */
export const storable = z.string().refine(isStorable, 'is not well-formed text');

/** A text whose length is counted in characters. */
export function atMost(characters: number) {
  return z
    .string()
    .refine((text) => countCharacters(text) <= characters, `must have at most ${characters} characters`)
    .meta({ maxLength: characters });
}

/** What is asked. */
export const question = atMost(maxQuestionLength).refine((text) => text.trim() !== '', 'must not be empty');
