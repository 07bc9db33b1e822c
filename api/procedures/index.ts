import type { Contract } from '../../contract/index.ts';
import type { ApiDeps } from '../deps.ts';
import type { Procedures } from '../procedure.ts';
import { accountProcedures } from './account.ts';
import { platformAuditLog } from './admin-audit-log.ts';
import { adminFlagProcedures } from './admin-flags.ts';
import { adminMailProcedures } from './admin-mails.ts';
import { adminOrganizationProcedures } from './admin-organizations.ts';
import { adminSystemProcedures } from './admin-system.ts';
import { apiKeyProcedures } from './api-keys.ts';
import { billingProcedures } from './billing.ts';
import { contactProcedures } from './contact.ts';
import { documentProcedures } from './documents.ts';
import { jobProcedures } from './jobs.ts';
import { organizationProcedures } from './organizations.ts';
import { systemProcedures } from './system.ts';
import { webhookProcedures } from './webhooks.ts';
import { workspaceProcedures } from './workspaces.ts';

/** Every procedure, in the shape of the contract; both transports mount this one tree. */
export function createProcedures(deps: ApiDeps): Procedures<Contract> {
  return {
    system: systemProcedures(deps),
    contact: contactProcedures(deps),
    account: accountProcedures(),
    organizations: organizationProcedures(deps),
    billing: billingProcedures(deps),
    workspaces: workspaceProcedures(deps),
    documents: documentProcedures(deps),
    jobs: jobProcedures(deps),
    webhooks: webhookProcedures(deps),
    apiKeys: apiKeyProcedures(deps),
    admin: {
      organizations: adminOrganizationProcedures(deps),
      flags: adminFlagProcedures(deps),
      system: adminSystemProcedures(deps),
      auditLog: platformAuditLog(deps),
      mails: adminMailProcedures(deps),
    },
  };
}
