import { t } from './text.ts';

const ofWorkspace = ['documents', 'jobs', 'search', 'ask', 'usage'] as const;
const ofOrganization = ['members', 'workspaces'] as const;
const ofAdmins = ['api-keys', 'webhooks', 'audit', 'plan'] as const;

type PageName = (typeof ofWorkspace | typeof ofOrganization | typeof ofAdmins)[number];

export interface PageLink {
  label: string;
  to: `/o/$organization/$workspace/${PageName}`;
}

/** The pages that somebody is offered: of the workspace, and of the organization. */
export function pagesFor(isAdmin: boolean): { workspace: PageLink[]; organization: PageLink[] } {
  const link = (name: PageName): PageLink => ({ label: t.nav.pages[name], to: `/o/$organization/$workspace/${name}` });
  return { workspace: ofWorkspace.map(link), organization: [...ofOrganization, ...(isAdmin ? ofAdmins : [])].map(link) };
}
