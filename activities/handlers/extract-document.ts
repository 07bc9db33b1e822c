import { storeText } from '../../domain/documents/document-text.ts';
import { extractText } from './document-text.ts';
import { getJobDocument, type Handler } from './handler.ts';

/** Extracts a document's text and stores it. Result: `{ characters, pages, truncated }`. */
export const extractDocument: Handler = async (deps, job, signal) => {
  const document = await getJobDocument(deps, job);
  const extracted = await extractText(deps, document, job.id, signal);
  const { characters, pages, truncated } = extracted;
  return { result: { characters, pages, truncated }, effects: (trx) => storeText(trx, document, extracted) };
};
