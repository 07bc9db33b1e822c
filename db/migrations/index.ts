import type { Migration } from 'kysely/migration';
import * as auth from './0001-auth.ts';
import * as core from './0002-core.ts';
import * as authRules from './0003-auth-rules.ts';
import * as platformAudit from './0004-platform-audit.ts';
import * as oneWriter from './0005-one-writer.ts';
import * as seats from './0006-seats.ts';
import * as vectorBlocks from './0007-vector-blocks.ts';
import * as jobKinds from './0008-job-kinds.ts';
import * as boundedContents from './0009-bounded-contents.ts';
import * as deletions from './0010-deletions.ts';
import * as dueObjects from './0011-due-objects.ts';
import * as signUpLimits from './0012-sign-up-limits.ts';
import * as postings from './0013-postings.ts';
import * as planRules from './0014-plan-rules.ts';
import * as stripeRequests from './0015-stripe-requests.ts';
import * as finding from './0016-finding.ts';
import * as indexKinds from './0017-index-kinds.ts';
import * as ocrPages from './0018-ocr-pages.ts';
import * as ownerlessOrganizations from './0019-ownerless-organizations.ts';
import * as outboxTrace from './0020-outbox-trace.ts';
import * as ocrConfidence from './0021-ocr-confidence.ts';
import * as unusedIndexes from './0022-unused-indexes.ts';
import * as sessionBounds from './0023-session-bounds.ts';
import * as stoppedMails from './0024-stopped-mails.ts';
import * as ownSessions from './0025-own-sessions.ts';
import * as lateUploads from './0026-late-uploads.ts';
import * as termsVersion from './0027-terms-version.ts';
import * as organizationsCode from './0028-organizations-code.ts';
import * as signInRules from './0029-sign-in-rules.ts';
import * as linksIndex from './0030-links-index.ts';
import * as freeJobKinds from './0031-free-job-kinds.ts';
import * as search from './0032-search.ts';

/**
 * A migration runs in a transaction, unless it is `online`: then it is run outside of one, may build indexes while others write, and may be
 * run again from its beginning if it was interrupted (CONTRIBUTING.md, migrations).
 */
export type ShippedMigration = Migration & { online?: boolean };

/** Every migration this code ships, by name, in the order they apply. */
export const migrations: Record<string, ShippedMigration> = {
  '0001-auth': auth,
  '0002-core': core,
  '0003-auth-rules': authRules,
  '0004-platform-audit': platformAudit,
  '0005-one-writer': oneWriter,
  '0006-seats': seats,
  '0007-vector-blocks': vectorBlocks,
  '0008-job-kinds': jobKinds,
  '0009-bounded-contents': boundedContents,
  '0010-deletions': deletions,
  '0011-due-objects': dueObjects,
  '0012-sign-up-limits': signUpLimits,
  '0013-postings': postings,
  '0014-plan-rules': planRules,
  '0015-stripe-requests': stripeRequests,
  '0016-finding': finding,
  '0017-index-kinds': indexKinds,
  '0018-ocr-pages': ocrPages,
  '0019-ownerless-organizations': ownerlessOrganizations,
  '0020-outbox-trace': outboxTrace,
  '0021-ocr-confidence': ocrConfidence,
  '0022-unused-indexes': unusedIndexes,
  '0023-session-bounds': sessionBounds,
  '0024-stopped-mails': stoppedMails,
  '0025-own-sessions': ownSessions,
  '0026-late-uploads': lateUploads,
  '0027-terms-version': termsVersion,
  '0028-organizations-code': organizationsCode,
  '0029-sign-in-rules': signInRules,
  '0030-links-index': linksIndex,
  '0031-free-job-kinds': freeJobKinds,
  '0032-search': search,
};
