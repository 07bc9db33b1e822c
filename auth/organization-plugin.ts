import { organization } from 'better-auth/plugins/organization';
import type { ServerConfig } from '../config/server.ts';
import { invitationMail } from './mails.ts';
import { addMail } from './outgoing-mails.ts';
import { accessControl, roles } from './permissions.ts';

/** Organizations with teams. Who may do what is in `permissions.ts`; limits, the last owner and the audit log are migration 0003's. */
export function organizationPlugin(config: ServerConfig) {
  return organization({
    ac: accessControl,
    roles,
    creatorRole: 'owner',
    teams: { enabled: true, defaultTeam: { enabled: false }, allowRemovingAllTeams: true },
    // The plan decides. Numbers, not functions: better-auth also takes them as the size of its lists.
    membershipLimit: Number.MAX_SAFE_INTEGER,
    invitationLimit: Number.MAX_SAFE_INTEGER,
    // An organization holds stored objects and subscriptions; only the service's own deletion takes those along.
    disableOrganizationDeletion: true,
    // Members can list invitations with their ids: without a verified address anyone could sign up under an invited one.
    requireEmailVerificationOnInvitation: config.requireEmailVerification,
    sendInvitationEmail: async ({ id, email, role, organization, inviter }) => {
      const url = `${config.webUrl}/accept-invitation/${id}`;
      addMail(invitationMail(email, { inviter: inviter.user.name, organization: organization.name, role, url }));
    },
  });
}
