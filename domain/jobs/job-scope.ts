import type { z } from 'zod';
import { ApiError } from '../../contract/api-error.ts';
import type { contract } from '../../contract/index.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import { documentNotFound, getDocument } from '../documents/document.ts';
import { lockDocument, lockWorkspace } from '../locks.ts';
import { workspaceNotFound } from '../workspaces/workspace.ts';
import type { JobHead } from './job.ts';

export type CreateJobInput = z.output<typeof contract.jobs.create.body>;

/** The rows that a job belongs to, found from its document or given by the caller. */
export interface JobScope {
  organizationId: string;
  workspaceId: string | null;
  documentId: string | null;
}

/**
 * Finds the scope of a job to be created, before authorization (docs/rules.md, tenant from the row). Throws NOT_FOUND if its document
 * does not exist.
 */
export async function findJobScope(db: Db, input: CreateJobInput): Promise<JobScope> {
  if ('documentId' in input) {
    const document = await getDocument(db, input.documentId);
    return { organizationId: document.organization_id, workspaceId: document.workspace_id, documentId: document.id };
  }
  return { organizationId: input.organizationId, workspaceId: input.workspaceId ?? null, documentId: null };
}

/** The scope of a job that exists. */
export function scopeOf(job: Pick<JobHead, 'organization_id' | 'workspace_id' | 'document_id'>): JobScope {
  return { organizationId: job.organization_id, workspaceId: job.workspace_id, documentId: job.document_id };
}

/**
 * Keeps the workspace and the document of a new job from being deleted until the transaction ends. Throws NOT_FOUND if one is gone,
 * FORBIDDEN if the workspace is another organization's, PRECONDITION_FAILED while the document's upload is unfinished.
 */
export async function lockJobScope(trx: Transaction, { organizationId, workspaceId, documentId }: JobScope): Promise<void> {
  if (workspaceId !== null) {
    const workspace = await lockWorkspace(trx, workspaceId, 'share');
    if (!workspace) throw workspaceNotFound();
    if (workspace.organization_id !== organizationId) throw new ApiError('FORBIDDEN');
  }
  if (documentId !== null) {
    const document = await lockDocument(trx, documentId, 'share');
    if (!document) throw documentNotFound();
    if (document.status !== 'ready') {
      throw new ApiError('PRECONDITION_FAILED', { message: 'The upload of this document is not complete.' });
    }
  }
}
