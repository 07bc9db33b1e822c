import { DocumentGone, type DocumentRow, findDocument } from '../../domain/documents/document.ts';
import type { JobRow } from '../../domain/jobs/job.ts';
import type { Outcome } from '../../domain/jobs/succeed-job.ts';
import type { ActivityDeps } from '../deps.ts';

/** Does one kind's work and answers its result and effects; stores nothing itself. Stops when the signal aborts. */
export type Handler = (deps: ActivityDeps, job: JobRow, signal: AbortSignal) => Promise<Outcome>;

/** The document of a job. Throws {@link DocumentGone}, which is final. */
export async function getJobDocument(deps: ActivityDeps, job: JobRow): Promise<DocumentRow> {
  const document = job.document_id === null ? undefined : await findDocument(deps.db, job.document_id);
  if (!document) throw new DocumentGone();
  return document;
}
