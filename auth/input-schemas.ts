import { z } from 'zod';
import { countCharacters } from '../contract/characters.ts';
import { constraints } from './rule-errors.ts';

const userName = bounded(notBlank(), 120, constraints.user_name_length);
const image = bounded(z.string(), 2_048, constraints.user_image_length);

/**
 * What the bodies of endpoints must be like, by path, beside what better-auth itself checks. Lengths are those of the database's
 * constraints: sign-up writes nothing for an address that is taken, and must respond as for one that is not.
 */
export const bodies = new Map<string, z.ZodType>([
  ['/sign-up/email', z.object({ name: userName, image: image.optional() })],
  ['/update-user', z.object({ name: userName.optional(), image: image.nullish() })],
  ['/admin/create-user', z.object({ name: userName })],
  ['/admin/update-user', z.object({ data: z.object({ name: userName.optional() }) })],
]);

/** Mails and members are named by it. */
function notBlank() {
  return z.string().refine((name) => name.trim() !== '', 'The name must not be blank');
}

function bounded(schema: z.ZodString, most: number, { code, message }: { code: string; message: string }) {
  return schema.refine((text) => countCharacters(text) <= most, { error: message, params: { code } });
}
