import type { Kysely } from 'kysely';
import { dropIndexes } from './online.ts';

export const online = true;

/**
 * Drops indexes that no statement reads, and that each stored chunk, and each change of a job or a document, wrote: users and organizations
 * are deleted without them since `0010-deletions`.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await dropIndexes(db, ['job_creator', 'document_uploader', 'chunk_organization']);
}
