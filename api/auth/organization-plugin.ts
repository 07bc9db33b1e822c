import { organization } from 'better-auth/plugins/organization';
import type { ServerConfig } from '../../base/config/server.ts';
import { invitationMail } from './mails.ts';
import { inOneTransaction } from './one-transaction.ts';
import { addMail } from './outgoing-mails.ts';
import { accessControl, roles } from './permissions.ts';

/** The maximum number of teams of an organization, which are listed without pages. */
const maximumTeams = 500;

/** Organizations with teams. `permissions.ts` says who may do what. `db/triggers/` holds the limits, the last owner and the audit log. */
export function organizationPlugin(config: ServerConfig) {
  const plugin = organization({
    ac: accessControl,
    roles,
    creatorRole: 'owner',
    teams: { enabled: true, maximumTeams, defaultTeam: { enabled: false }, allowRemovingAllTeams: true },
    // The plan decides. These are numbers, not functions, because better-auth also uses them as the size of its lists.
    membershipLimit: Number.MAX_SAFE_INTEGER,
    invitationLimit: Number.MAX_SAFE_INTEGER,
    // Only the service's own deletion also deletes stored objects and subscriptions.
    disableOrganizationDeletion: true,
    // Mails contain the id, and admins can list it. Without verified addresses anyone who knows it could sign up with the invited address.
    requireEmailVerificationOnInvitation: config.requireEmailVerification,
    sendInvitationEmail: async ({ id, email, role, organization, inviter }) => {
      const url = `${config.webUrl}/accept-invitation/${id}`;
      addMail(invitationMail(email, { inviter: inviter.user.name, organization: organization.name, role, url }));
    },
  });
  // An accepted invitation always has its member, even if the process dies.
  plugin.endpoints.acceptInvitation = inOneTransaction(plugin.endpoints.acceptInvitation);
  return plugin;
}
