import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { ask, auth } from './service.ts';

const pageSize = 100;

/** The members of an organization, the oldest first, a page at a time. */
export const membersQuery = (organizationId: string) =>
  infiniteQueryOptions({
    queryKey: ['members', organizationId],
    queryFn: ({ pageParam }) =>
      ask(auth.organization.listMembers({ query: { organizationId, limit: pageSize, offset: pageParam, sortBy: 'createdAt' } })),
    initialPageParam: 0,
    getNextPageParam: ({ total }, _pages, offset) => (offset + pageSize < total ? offset + pageSize : undefined),
  });

/** The invitations that may still be accepted. */
export const invitationsQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['invitations', organizationId],
    queryFn: async () => {
      const invitations = await ask(auth.organization.listInvitations({ query: { organizationId } }));
      return invitations.filter(({ status, expiresAt }) => status === 'pending' && Date.parse(String(expiresAt)) > Date.now());
    },
  });

export type Member = Awaited<ReturnType<typeof listMembers>>['members'][number];
export type Invitation = Awaited<ReturnType<typeof listInvitations>>[number];
const listMembers = () => ask(auth.organization.listMembers());
const listInvitations = () => ask(auth.organization.listInvitations());

const listTeams = (organizationId: string) => ask(auth.organization.listTeams({ query: { organizationId } }));

export type Team = Awaited<ReturnType<typeof listTeams>>[number];

/** Every team of an organization: 500 at the most. */
export const teamsQuery = (organizationId: string) =>
  queryOptions({ queryKey: ['teams', organizationId], queryFn: () => listTeams(organizationId) });

/** The members of a team, for those who are in it. */
export const teamMembersQuery = (teamId: string) =>
  queryOptions({
    queryKey: ['teams', 'members', teamId],
    queryFn: () => ask(auth.organization.listTeamMembers({ query: { teamId } })),
  });
