import type { z } from 'zod';
import type { documentSchema } from '../../contract/documents.ts';
import type { FoundChunk } from '../../domain/chunks/search-chunks.ts';
import type { DocumentRow } from '../../domain/documents/document.ts';
import type { RankedChunk } from '../../domain/search/search-by-words.ts';

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
    extracted: toExtracted(document),
    indexedAt: document.indexed_at?.toISOString() ?? null,
    chunkCount: document.chunk_count,
    createdAt: document.created_at.toISOString(),
    updatedAt: document.updated_at.toISOString(),
  };
}

/** What extraction found in a document; null before extraction. */
export function toExtracted(document: DocumentRow) {
  if (document.extracted_at === null) return null;
  return {
    characters: document.extracted_characters ?? 0,
    pages: document.extracted_pages,
    at: document.extracted_at.toISOString(),
    ...(document.extracted_ocr_pages ? { ocrPages: document.extracted_ocr_pages } : {}),
  };
}

/** A chunk that a search found. */
export function toSearchResult(chunk: FoundChunk | RankedChunk) {
  return {
    chunkId: chunk.id,
    documentId: chunk.document_id,
    documentName: chunk.document_name,
    index: chunk.index,
    text: chunk.text,
    score: chunk.score,
    ...('rank' in chunk ? { lexicalScore: chunk.lexicalScore, rank: chunk.rank } : {}),
  };
}
