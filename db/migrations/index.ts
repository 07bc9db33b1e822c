import type { Migration } from 'kysely/migration';
import * as auth from './0001-auth.ts';
import * as core from './0002-core.ts';
import * as authRules from './0003-auth-rules.ts';
import * as mail from './0004-mail.ts';
import * as sharedLimits from './0005-shared-limits.ts';
import * as pastDue from './0006-past-due.ts';
import * as chunkTenant from './0007-chunk-tenant.ts';
import * as formerWorkspace from './0008-former-workspace.ts';
import * as openSearches from './0012-open-searches.ts';
import * as vectorBlocks from './0020-vector-blocks.ts';

/** Every migration this code ships, by name, in the order they apply. */
export const migrations: Record<string, Migration> = {
  '0001-auth': auth,
  '0002-core': core,
  '0003-auth-rules': authRules,
  '0004-mail': mail,
  '0005-shared-limits': sharedLimits,
  '0006-past-due': pastDue,
  '0007-chunk-tenant': chunkTenant,
  '0008-former-workspace': formerWorkspace,
  '0012-open-searches': openSearches,
  '0020-vector-blocks': vectorBlocks,
};
