import type { Transaction } from '../../db/connect.ts';
import { DocumentGone, type DocumentRow } from '../../domain/documents/document.ts';
import { type ExtractedText, getText, storeText } from '../../domain/documents/document-text.ts';
import type { ActivityDeps } from '../deps.ts';

/**
 * The text of a document that another kind works on: what is stored, or what is extracted now. `store` is the effect that stores
 * the latter, together with the job's own. Throws as {@link extractText}.
 */
export async function getDocumentText(
  deps: ActivityDeps,
  document: DocumentRow,
  jobId: string,
  signal: AbortSignal,
): Promise<{ text: string; store: (trx: Transaction) => Promise<void> }> {
  const stored = await getText(deps.db, document.id);
  if (stored !== null) return { text: stored, store: async () => {} };
  const extracted = await extractText(deps, document, jobId, signal);
  return { text: extracted.text, store: (trx) => storeText(trx, document, extracted) };
}

/** Has the AI service read a document's object. Throws {@link DocumentGone} if there is none, AiServiceError, or the signal's reason. */
export async function extractText(
  deps: ActivityDeps,
  document: DocumentRow,
  requestId: string,
  signal: AbortSignal,
): Promise<ExtractedText> {
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
