import type { Migration } from 'kysely/migration';
import * as baseline from './0001-baseline.ts';
import * as extractionNotices from './0002-extraction-notices.ts';
import * as webhooks from './0003-webhooks.ts';
import * as apiKeys from './0004-api-keys.ts';
import * as compounds from './0005-compounds.ts';
import * as usageHistory from './0006-usage-history.ts';
import * as autoProcess from './0007-auto-process.ts';
import * as answers from './0008-answers.ts';
import * as twoFactor from './0009-two-factor.ts';
import * as budgets from './0010-budgets.ts';
import * as charset from './0011-charset.ts';
import * as heldDeliveries from './0012-held-deliveries.ts';
import * as jobStages from './0013-job-stages.ts';
import * as signIn from './0014-sign-in.ts';
import * as pendingChanges from './0015-pending-changes.ts';
import * as jobReplays from './0016-job-replays.ts';
import * as pendingDeliveries from './0017-pending-deliveries.ts';
import * as wholeInputs from './0018-whole-inputs.ts';
import * as providerOutages from './0019-provider-outages.ts';
import * as auditSequence from './0020-audit-sequence.ts';
import * as suspension from './0021-suspension.ts';
import * as legalHold from './0022-legal-hold.ts';
import * as lastBackup from './0023-last-backup.ts';
import * as documentDigest from './0024-document-digest.ts';
import * as duplicates from './0025-duplicates.ts';
import * as workspaceRetention from './0026-workspace-retention.ts';
import * as planOverride from './0027-plan-override.ts';
import * as providerCalls from './0028-provider-calls.ts';
import * as documentVersions from './0029-document-versions.ts';
import * as readOnly from './0030-read-only.ts';
import * as providerCallAge from './0031-provider-call-age.ts';
import * as costBudget from './0032-cost-budget.ts';
import * as documentOrder from './0033-document-order.ts';
import * as logLevel from './0034-log-level.ts';
import * as versionObjects from './0035-version-objects.ts';
import * as storedResponses from './0036-stored-responses.ts';
import * as replacingUploads from './0037-replacing-uploads.ts';

/**
 * A migration runs in a transaction, unless it is `online`: then it runs outside of one, may build indexes concurrently, and is run again
 * from its beginning if it was interrupted (CONTRIBUTING.md, migrations).
 */
export type ShippedMigration = Migration & { online?: boolean };

/** Every migration of this code by name, in the order in which they are applied. */
export const migrations: Record<string, ShippedMigration> = {
  '0001-baseline': baseline,
  '0002-extraction-notices': extractionNotices,
  '0003-webhooks': webhooks,
  '0004-api-keys': apiKeys,
  '0005-compounds': compounds,
  '0006-usage-history': usageHistory,
  '0007-auto-process': autoProcess,
  '0008-answers': answers,
  '0009-two-factor': twoFactor,
  '0010-budgets': budgets,
  '0011-charset': charset,
  '0012-held-deliveries': heldDeliveries,
  '0013-job-stages': jobStages,
  '0014-sign-in': signIn,
  '0015-pending-changes': pendingChanges,
  '0016-job-replays': jobReplays,
  '0017-pending-deliveries': pendingDeliveries,
  '0018-whole-inputs': wholeInputs,
  '0019-provider-outages': providerOutages,
  '0020-audit-sequence': auditSequence,
  '0021-suspension': suspension,
  '0022-legal-hold': legalHold,
  '0023-last-backup': lastBackup,
  '0024-document-digest': documentDigest,
  '0025-duplicates': duplicates,
  '0026-workspace-retention': workspaceRetention,
  '0027-plan-override': planOverride,
  '0028-provider-calls': providerCalls,
  '0029-document-versions': documentVersions,
  '0030-read-only': readOnly,
  '0031-provider-call-age': providerCallAge,
  '0032-cost-budget': costBudget,
  '0033-document-order': documentOrder,
  '0034-log-level': logLevel,
  '0035-version-objects': versionObjects,
  '0036-stored-responses': storedResponses,
  '0037-replacing-uploads': replacingUploads,
};
