import { z } from 'zod';
import { countCharacters } from '../../contract/characters.ts';
import { optionalQueryInteger } from '../../contract/fields.ts';
import { displayName } from '../../contract/names.ts';
import { isCommonPassword } from './common-passwords.ts';
import { listQuery } from './list-query.ts';
import { passwordLength } from './passwords.ts';
import { constraints } from './rule-errors.ts';

/** A hundred years: a longer ban has no end. */
const maxBanSeconds = 100 * 366 * 24 * 60 * 60;

const userName = bounded(120, constraints.user_name_length).pipe(displayName({ max: 120 }));
const image = bounded(2_048, constraints.user_image_length);
const organizationName = bounded(80, constraints.organization_name_length).pipe(displayName({ max: 80 }));
const teamName = bounded(80, constraints.team_name_length).pipe(displayName({ max: 80 }));
const tooCommon = { error: 'The password is one of the most common ones: choose another.', params: { code: 'PASSWORD_TOO_COMMON' } };
// better-auth checks where a password is required, and its length.
const newPassword = z
  .string()
  .refine((given) => !isCommonPassword(given), tooCommon)
  .optional();
/** better-auth checks the length of other new passwords. */
const ofLength = z
  .string()
  .refine((given) => given.length >= passwordLength.min, { error: 'Password too short', params: { code: 'PASSWORD_TOO_SHORT' } })
  .refine((given) => given.length <= passwordLength.max, { error: 'Password too long', params: { code: 'PASSWORD_TOO_LONG' } })
  .optional();
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
 * Additional schemas for bodies of endpoints, by path. Lengths are those of the database's constraints: sign-up writes nothing for a taken
 * address, and must respond as for a free one.
 */
export const bodies = new Map<string, z.ZodType>([
  ['/sign-up/email', z.object({ name: userName, image: image.optional(), password: newPassword })],
  ['/sign-in/email', z.object({ newPassword: newPassword.pipe(ofLength) })],
  ['/change-password', z.object({ newPassword })],
  ['/reset-password', z.object({ newPassword })],
  ['/change-email', z.object({ newEmail: bounded(254, constraints.user_email_length) })],
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
    z.object({
      name: userName,
      password: newPassword.pipe(ofLength),
      data: z.strictObject({ image: image.nullish(), emailVerified: z.boolean().optional() }).optional(),
    }),
  ],
  ['/admin/update-user', isUser.extend({ data: z.strictObject(userData) })],
  ['/admin/ban-user', isUser.extend({ banExpiresIn: z.int().min(1).max(maxBanSeconds).optional() })],
  ['/admin/set-role', isUser],
  ['/admin/set-user-password', isUser.extend({ newPassword })],
  ['/admin/unban-user', isUser],
  ['/admin/list-user-sessions', isUser],
  ['/admin/revoke-user-sessions', isUser],
  ['/admin/impersonate-user', isUser],
  ['/admin/remove-user', isUser],
  ['/admin/has-permission', isUser.partial()],
]);

/** Additional schemas for queries, by path. */
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

function bounded(max: number, { code, message }: { code: string; message: string }) {
  return z.string().refine((text) => countCharacters(text) <= max, { error: message, params: { code } });
}
