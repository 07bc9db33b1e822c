import type { Place } from './queries.ts';
import { t } from './text.ts';

const ofWorkspace = ['documents', 'jobs', 'search', 'ask', 'usage'] as const;
const ofOrganization = ['members', 'workspaces'] as const;
const ofAdmins = ['api-keys', 'webhooks', 'audit', 'plan'] as const;
const ofPlatformAdmins = ['mailbox'] as const;

type PageName = (typeof ofWorkspace | typeof ofOrganization | typeof ofAdmins | typeof ofPlatformAdmins)[number];

type PageGroup = 'workspace' | 'organization' | 'platform';

export interface PageLink {
  label: string;
  to: `/o/$organization/$workspace/${PageName}`;
}

/** The pages that somebody is offered: of the workspace, of the organization, and of the deployment. */
export function pagesFor({ isAdmin, isPlatformAdmin }: Pick<Place, 'isAdmin' | 'isPlatformAdmin'>): Record<PageGroup, PageLink[]> {
  const link = (name: PageName): PageLink => ({ label: t.nav.pages[name], to: `/o/$organization/$workspace/${name}` });
  return {
    workspace: ofWorkspace.map(link),
    organization: [...ofOrganization, ...(isAdmin ? ofAdmins : [])].map(link),
    platform: (isPlatformAdmin ? ofPlatformAdmins : []).map(link),
  };
}

const ofPlatform = ['system', 'organizations', 'users', 'flags'] as const;

/** The pages of platform admins. */
export function adminPages() {
  return ofPlatform.map((name) => ({ label: t.admin.pages[name], to: `/admin/${name}` as const }));
}
