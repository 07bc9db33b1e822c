import type { z } from 'zod';
import type { documentSchema } from '../../contract/documents.ts';
import type { DocumentRow } from '../../domain/documents/document.ts';
import type { DocumentVersion } from '../../domain/documents/versions.ts';
import type { FoundChunk } from '../../domain/search/find-chunks.ts';
import type { Highlight } from '../../domain/search/highlights.ts';

/** A document as the API shows it. */
export function toDocument(document: DocumentRow): z.input<typeof documentSchema> {
  return {
    id: document.id,
    organizationId: document.organization_id,
    workspaceId: document.workspace_id,
    uploadedBy: document.uploaded_by,
    name: document.name,
    contentType: document.content_type as z.input<typeof documentSchema>['contentType'],
    size: document.size_bytes,
    status: document.status,
    ...(document.sha256 === null ? {} : { sha256: document.sha256 }),
    version: document.version,
    ...(document.replaces === null ? {} : { replaces: document.replaces }),
    extracted: toExtracted(document),
    indexedAt: document.indexed_at?.toISOString() ?? null,
    chunkCount: document.chunk_count,
    tags: document.tags,
    metadata: document.metadata,
    charset: document.charset as z.input<typeof documentSchema>['charset'],
    failedJob: toFailedJob(document),
    createdAt: document.created_at.toISOString(),
    updatedAt: document.updated_at.toISOString(),
  };
}

/** A version of a document as the API shows it. */
export function toVersion({ number, sha256, sizeBytes, createdBy, createdAt }: DocumentVersion) {
  return { number, sha256, size: sizeBytes, createdBy, createdAt: createdAt.toISOString() };
}

function toFailedJob({ failed_job: job }: DocumentRow) {
  if (!job) return null;
  const { id, kind, code, message, finishedAt } = job;
  return { id, kind, error: code === null ? null : { code, message: message ?? '' }, finishedAt: new Date(finishedAt).toISOString() };
}

/** The results of extraction for a document; null before extraction. */
export function toExtracted(document: DocumentRow) {
  if (document.extracted_at === null) return null;
  return {
    characters: document.extracted_characters ?? 0,
    pages: document.extracted_pages,
    at: document.extracted_at.toISOString(),
    ...(document.extracted_ocr_pages ? { ocrPages: document.extracted_ocr_pages } : {}),
    ...(document.extracted_ocr_confidence ? { ocrConfidence: document.extracted_ocr_confidence } : {}),
    ...(document.extracted_notices ? { notices: document.extracted_notices } : {}),
  };
}

/** The optional parts of a search result besides the chunk. */
interface ShownParts {
  citation: boolean;
  /** The matching parts of its text; undefined if they are not shown. */
  highlights: Highlight[] | undefined;
}

/** A chunk that a search found. */
export function toSearchResult(chunk: FoundChunk, { citation, highlights }: ShownParts) {
  return {
    chunkId: chunk.id,
    documentId: chunk.document_id,
    documentName: chunk.document_name,
    index: chunk.index,
    text: chunk.text,
    score: chunk.score,
    ...(chunk.lexicalScore === undefined ? {} : { lexicalScore: chunk.lexicalScore }),
    rank: chunk.rank,
    ...(citation ? { citation: toCitation(chunk) } : {}),
    ...(highlights ? { highlights: highlights.map((one) => ({ ...one, page: pageAt(chunk, one.start) })) } : {}),
  };
}

function toCitation(chunk: FoundChunk) {
  const { page, headings, text_start: start, text_end: end } = chunk;
  return { page, lastPage: pageAt(chunk, Number.POSITIVE_INFINITY), headings, start, end };
}

/** The page at a position of a chunk's text; null if it is unknown or the document has no pages. */
function pageAt({ page, page_breaks: breaks }: FoundChunk, position: number): number | null {
  return page === null ? null : page + (breaks ?? []).filter((start) => start <= position).length;
}
