import type { Transaction } from '../../db/connect.ts';
import { DocumentGone } from '../../domain/documents/document-gone.ts';
import type { DocumentRow } from '../../domain/documents/get-document.ts';
import { getText } from '../../domain/documents/get-text.ts';
import { type ExtractedText, storeText } from '../../domain/documents/store-text.ts';
import type { ActivityDeps } from '../deps.ts';
import { getJobDocument, type Handler } from './handler.ts';

/** Extracts a document's text and stores it. Result: `{ characters, pages, truncated }`. */
export const extractDocument: Handler = async (deps, job, signal) => {
  const document = await getJobDocument(deps, job);
  const extracted = await extract(deps, document, job.id, signal);
  const { characters, pages, truncated } = extracted;
  return { result: { characters, pages, truncated }, effects: (trx) => storeText(trx, document, extracted) };
};

/**
 * The text of a document that another kind works on: what is stored, or extracted now, with the effect that stores it
 * together with the job's own (decisions, results).
 */
export async function textOf(
  deps: ActivityDeps,
  document: DocumentRow,
  jobId: string,
  signal: AbortSignal,
): Promise<{ text: string; store: (trx: Transaction) => Promise<void> }> {
  const stored = await getText(deps.db, document.id);
  if (stored !== null) return { text: stored, store: async () => {} };
  const extracted = await extract(deps, document, jobId, signal);
  return { text: extracted.text, store: (trx) => storeText(trx, document, extracted) };
}

async function extract(deps: ActivityDeps, document: DocumentRow, requestId: string, signal: AbortSignal): Promise<ExtractedText> {
  const body = await deps.storage.read(document.object_key);
  if (!body) throw new DocumentGone();
  try {
    const contentLength = document.size_bytes;
    const { text, characters, pages, truncated } = await deps.ai.extract({
      body,
      contentType: document.content_type,
      contentLength,
      requestId,
      signal,
    });
    return { text, characters, pages, truncated };
  } finally {
    body.destroy();
  }
}
