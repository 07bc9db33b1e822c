import type { Icon } from '@tabler/icons-react';
import IconActivity from '@tabler/icons-react/icons/IconActivity';
import IconBuilding from '@tabler/icons-react/icons/IconBuilding';
import IconChartBar from '@tabler/icons-react/icons/IconChartBar';
import IconCreditCard from '@tabler/icons-react/icons/IconCreditCard';
import IconFileText from '@tabler/icons-react/icons/IconFileText';
import IconFlag from '@tabler/icons-react/icons/IconFlag';
import IconHistory from '@tabler/icons-react/icons/IconHistory';
import IconKey from '@tabler/icons-react/icons/IconKey';
import IconLayoutGrid from '@tabler/icons-react/icons/IconLayoutGrid';
import IconListCheck from '@tabler/icons-react/icons/IconListCheck';
import IconMailbox from '@tabler/icons-react/icons/IconMailbox';
import IconMessageCircleQuestion from '@tabler/icons-react/icons/IconMessageCircleQuestion';
import IconSearch from '@tabler/icons-react/icons/IconSearch';
import IconUsers from '@tabler/icons-react/icons/IconUsers';
import IconWebhook from '@tabler/icons-react/icons/IconWebhook';
import type { Place } from './queries.ts';
import { t } from './text.ts';

const ofWorkspace = ['documents', 'jobs', 'search', 'ask', 'usage'] as const;
const ofOrganization = ['members', 'workspaces'] as const;
/** With the permission that members lack. */
const ofAdmins = {
  'api-keys': 'apiKey:manage',
  webhooks: 'webhook:manage',
  audit: 'auditLog:read',
  plan: 'billing:read',
} as const;
const ofPlatformAdmins = ['mailbox'] as const;

type PageName = (typeof ofWorkspace | typeof ofOrganization | typeof ofPlatformAdmins)[number] | keyof typeof ofAdmins;

type PageGroup = 'workspace' | 'organization' | 'platform';

const icons: Record<PageName, Icon> = {
  documents: IconFileText,
  jobs: IconListCheck,
  search: IconSearch,
  ask: IconMessageCircleQuestion,
  usage: IconChartBar,
  members: IconUsers,
  workspaces: IconLayoutGrid,
  'api-keys': IconKey,
  webhooks: IconWebhook,
  audit: IconHistory,
  plan: IconCreditCard,
  mailbox: IconMailbox,
};

export interface PageLink {
  label: string;
  Icon: Icon;
  to: `/o/$organization/$workspace/${PageName}`;
  /** The permission that the user lacks to see it. */
  lacks?: (typeof ofAdmins)[keyof typeof ofAdmins] | undefined;
}

/** The pages that somebody is offered: of the workspace, of the organization, and of the deployment. */
export function pagesFor({ isAdmin, isPlatformAdmin }: Pick<Place, 'isAdmin' | 'isPlatformAdmin'>): Record<PageGroup, PageLink[]> {
  const link = (name: PageName): PageLink => ({
    label: t.nav.pages[name],
    Icon: icons[name],
    to: `/o/$organization/$workspace/${name}`,
  });
  return {
    workspace: ofWorkspace.map(link),
    organization: [
      ...ofOrganization.map(link),
      ...Object.entries(ofAdmins).map(([name, permission]) => ({
        ...link(name as keyof typeof ofAdmins),
        lacks: isAdmin ? undefined : permission,
      })),
    ],
    platform: (isPlatformAdmin ? ofPlatformAdmins : []).map(link),
  };
}

const ofPlatform = ['system', 'organizations', 'users', 'flags'] as const;

const platformIcons = {
  system: IconActivity,
  organizations: IconBuilding,
  users: IconUsers,
  flags: IconFlag,
};

/** The pages of platform admins. */
export function adminPages() {
  return ofPlatform.map((name) => ({ label: t.admin.pages[name], Icon: platformIcons[name], to: `/admin/${name}` as const }));
}
