import { z } from 'zod';
import { countCharacters } from '../contract/characters.ts';
import { optionalQueryInteger, singleLine } from '../contract/fields.ts';
import { listQuery } from './list-query.ts';
import { constraints } from './rule-errors.ts';

/** A hundred years: whoever shall be banned for longer is banned for ever. */
const longestBanSeconds = 100 * 366 * 24 * 60 * 60;

const userName = bounded(notBlank(), 120, constraints.user_name_length);
const image = bounded(z.string(), 2_048, constraints.user_image_length);
const organizationName = bounded(notBlank(), 80, constraints.organization_name_length).pipe(singleLine({ max: 80 }));
const teamName = bounded(notBlank(), 80, constraints.team_name_length).pipe(singleLine({ max: 80 }));
const isUser = z.object({ userId: z.string() });

const userData = { name: userName.optional(), image: image.nullish(), email: z.string().optional(), emailVerified: z.boolean().optional() };

const nothingToUpdate = { error: 'No data to update', params: { code: 'NO_DATA_TO_UPDATE' } };
const organizationData = z
  .object({
    name: organizationName.optional(),
    slug: z.unknown().optional(),
    logo: z.unknown().optional(),
    metadata: z.unknown().optional(),
  })
  .refine((data) => Object.values(data).some((value) => value !== undefined), nothingToUpdate);

/**
 * What the bodies of endpoints must be like, by path, beside what better-auth itself checks. Lengths are those of the database's
 * constraints: sign-up writes nothing for an address that is taken, and must respond as for one that is not.
 */
export const bodies = new Map<string, z.ZodType>([
  ['/sign-up/email', z.object({ name: userName, image: image.optional() })],
  ['/update-user', z.object({ name: userName.optional(), image: image.nullish() })],
  ['/organization/create', z.object({ name: organizationName })],
  ['/organization/update', z.object({ data: organizationData })],
  ['/organization/create-team', z.object({ name: teamName })],
  ['/organization/update-team', z.object({ data: z.object({ name: teamName.optional() }) })],
  ['/organization/add-team-member', isUser],
  ['/organization/remove-team-member', isUser],
  ['/organization/remove-member', z.object({ memberIdOrEmail: z.string() })],
  [
    '/admin/create-user',
    z.object({ name: userName, data: z.strictObject({ image: image.nullish(), emailVerified: z.boolean().optional() }).optional() }),
  ],
  ['/admin/update-user', isUser.extend({ data: z.strictObject(userData) })],
  ['/admin/ban-user', isUser.extend({ banExpiresIn: z.int().min(1).max(longestBanSeconds).optional() })],
  ['/admin/set-role', isUser],
  ['/admin/set-user-password', isUser],
  ['/admin/unban-user', isUser],
  ['/admin/list-user-sessions', isUser],
  ['/admin/revoke-user-sessions', isUser],
  ['/admin/impersonate-user', isUser],
  ['/admin/remove-user', isUser],
  ['/admin/has-permission', isUser.partial()],
]);

/** The same of queries. */
export const queries = new Map<string, z.ZodType>([
  ['/organization/list-members', listQuery({ id: 'text', organizationId: 'text', userId: 'text', role: 'text', createdAt: 'time' })],
  ['/organization/get-full-organization', z.object({ membersLimit: optionalQueryInteger({ min: 0, max: Number.MAX_SAFE_INTEGER }) })],
  [
    '/admin/list-users',
    listQuery({
      ...{ id: 'text', name: 'text', email: 'text', image: 'text', role: 'text', banReason: 'text' },
      ...{ emailVerified: 'boolean', banned: 'boolean', banExpires: 'time', createdAt: 'time', updatedAt: 'time' },
    }),
  ],
]);

/** Mails and members are named by it. */
function notBlank() {
  return z.string().refine((name) => name.trim() !== '', 'The name must not be blank');
}

function bounded(schema: z.ZodString, most: number, { code, message }: { code: string; message: string }) {
  return schema.refine((text) => countCharacters(text) <= most, { error: message, params: { code } });
}
