import { SheafError, type Workspace } from '@sheaf/client';
import { type Organization, queryClient } from './queries.ts';
import { ask, auth, service } from './service.ts';

/** Makes an organization. Its slug is unique among all: one that is taken gets an end of its own. */
export async function createOrganization(name: string): Promise<Organization> {
  const create = (slug: string) => ask(auth.organization.create({ name, slug }));
  const organization = await withFreeSlug(name, 'ORGANIZATION_ALREADY_EXISTS', create);
  await queryClient.invalidateQueries({ queryKey: ['organizations'] });
  return organization;
}

/** Makes a workspace. Its slug is unique within the organization. */
export async function createWorkspace(organizationId: string, name: string): Promise<Workspace> {
  const create = (slug: string) => service.workspaces.create({ organizationId, name, slug });
  const workspace = await withFreeSlug(name, 'CONFLICT', create);
  await queryClient.invalidateQueries({ queryKey: ['workspaces'] });
  return workspace;
}

function withFreeSlug<T>(name: string, taken: string, create: (slug: string) => Promise<T>): Promise<T> {
  const slug = slugOf(name);
  return create(slug).catch((error: unknown) => {
    if (!(error instanceof SheafError && error.code === taken)) throw error;
    return create(`${slug.slice(0, 40)}-${Math.random().toString(36).slice(2, 8)}`);
  });
}

function slugOf(name: string): string {
  const letters = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replaceAll('ß', 'ss')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '');
  const slug = letters.slice(0, 40).replace(/-$/, '');
  return slug.length >= 2 ? slug : `${slug || 'w'}-1`;
}
