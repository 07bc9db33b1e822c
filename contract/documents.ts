import { z } from 'zod';
import { charset } from './charsets.ts';
import { contentType } from './content-types.ts';
import { askDocuments, askDocumentsStream } from './document-answers.ts';
import { searchDocuments } from './document-search.ts';
import {
  byteCount,
  count,
  cursor,
  dateTime,
  deleted,
  emptyBody,
  exampleId,
  givenId,
  id,
  linePattern,
  nextCursor,
  optionalQueryInteger,
  pageNumber,
  position,
  queryInteger,
  sha256,
  singleLine,
  withExample,
} from './fields.ts';
import { metadata, tag, tags } from './labels.ts';
import { displayName } from './names.ts';
import { c, operation } from './route.ts';
import { storageSchema } from './workspaces.ts';

const uploadUrl = 'https://api.example.com/uploads/0198d2c4/0198d2c5?expires=1795262400&signature=q83vEjRWeJA';
const downloadUrl = 'https://api.example.com/uploads/0198d2c4/0198d2c5?expires=1795262400&signature=EjRWeJCrze8';

/** Of a document or a job that read one. */
export const ocrPages = count
  .optional()
  .describe(
    'How many pages of a scanned PDF text recognition has read. Absent if none; always so unless the deployment reads scanned PDFs.',
  )
  .meta({ examples: [2] });

/** Of a document or a job that read one. Codes are only ever added: `docs/extraction.md` lists them. */
export const notices = z
  .array(
    z
      .object({
        code: withExample(z.string().describe('A word that stays the same. More may come.'), 'scan_not_read'),
        text: z
          .string()
          .describe('A sentence for people.')
          .meta({ examples: ['Pages 2 to 3 have pictures, in which text is not read while OCR_SCANNED_PDF is off.'] }),
      })
      .meta({ id: 'ExtractionNotice' }),
  )
  .optional()
  .describe('What extraction left out or had to guess, and why: at most 20. Absent if there is nothing to say.');

const extracted = z
  .object({
    characters: count.meta({ examples: [9240] }),
    pages: withExample(count.nullable().describe('Null for kinds that have no pages.'), 5),
    at: dateTime,
    ocrPages,
    ocrConfidence: z
      .array(z.int().min(0).max(100).nullable())
      .optional()
      .describe(
        'How sure text recognition was of each page, from 0 to 100, in their order; null for a page that it did not read, or on which it found nothing, or less than its own text. Absent if it read none, or if a remote model did.',
      )
      .meta({ examples: [[null, 94]] }),
    notices,
  })
  .meta({ id: 'Extracted', description: 'What extraction made of the document.' });

const documentStatus = z.enum(['pending', 'ready']);
export type DocumentStatus = z.infer<typeof documentStatus>;

export const jobError = z
  .object({ code: z.string().meta({ examples: ['unsupported_file'] }), message: z.string().meta({ examples: ['The file is not a PDF.'] }) })
  .meta({ id: 'JobError' });

const failedJob = z
  .object({
    id,
    kind: z.string().meta({ examples: ['document.index'] }),
    error: jobError.nullable(),
    finishedAt: dateTime,
  })
  .meta({ id: 'FailedJob' });

const versionNumber = withExample(z.int().min(1), 1);

const documentVersion = z
  .object({
    number: versionNumber,
    sha256: sha256.nullable().describe('Null if the service has not read its bytes.'),
    size: byteCount.meta({ examples: [48_213] }),
    createdBy: id.nullable(),
    createdAt: dateTime.describe('When it took the place of the one before; of the first, when its upload began.'),
  })
  .meta({ id: 'DocumentVersion' });

export const documentSchema = z
  .object({
    id,
    organizationId: id,
    workspaceId: id,
    uploadedBy: id.nullable(),
    name: z.string().meta({ examples: ['handbook.pdf'] }),
    contentType,
    size: byteCount.describe('Bytes: the declared size, then the measured one once the upload is complete.').meta({ examples: [48_213] }),
    status: documentStatus.describe('`ready` once the upload is complete.').meta({ examples: ['ready'] }),
    sha256: sha256
      .optional()
      .describe(
        'Of the stored bytes. Absent until the service has read them: as they arrive, or from a bucket when the text is extracted.',
      ),
    version: versionNumber.default(1).describe('How many contents the document has had, with this one.'),
    replaces: id
      .optional()
      .describe('Of an upload that replaces the content of this document once it is read, and is no document any more then.')
      .meta({ examples: [exampleId] }),
    extracted: extracted.nullable(),
    indexedAt: dateTime.nullable(),
    chunkCount: withExample(count.nullable().describe('How many chunks the search knows; null until the document is indexed.'), 12),
    tags: withExample(z.array(z.string()).default([]), ['contract', '2026']),
    metadata: withExample(z.record(z.string(), z.unknown()).default({}), { customer: 'Korvid Ridge', year: 2026 }),
    charset: withExample(charset.nullable().default(null).describe('That a text was declared to have; null if none was.'), null),
    failedJob: failedJob.nullable().default(null).describe('The newest job of the document, if it has failed; null if it has not.'),
    createdAt: dateTime,
    updatedAt: dateTime,
  })
  .meta({ id: 'Document' });

const uploadSchema = z
  .object({
    url: withExample(z.url().describe('Where to PUT the bytes; no session is needed.'), uploadUrl),
    headers: z
      .record(z.string(), z.string())
      .describe(
        'Exactly the headers that the PUT must send. Without a bucket, a PUT with another `Content-Type` is refused with `invalid_signature`, and the `Accept` of the response names the right one.',
      )
      .meta({ examples: [{ 'content-type': 'application/pdf' }] }),
    expiresAt: dateTime.describe('The PUT must begin before this.'),
  })
  .meta({ id: 'Upload' });

const duplicateOf = z
  .object({ id, name: z.string().meta({ examples: ['handbook.pdf'] }) })
  .meta({ id: 'DuplicateOf', description: 'A document of the workspace that has the promised content. Absent if there is none.' });

const share = z
  .number()
  .min(0)
  .max(1)
  .meta({ examples: [0.25] });

const textLine = z
  .object({ start: position, end: position, left: share, top: share, width: share, height: share })
  .meta({ id: 'TextLine', description: 'Where a line stands in the whole text, and on its page, as shares of its width and height.' });

const textPage = z
  .object({
    number: pageNumber,
    start: position.describe('Where the page begins in the whole text.'),
    end: position.describe('Where the next page begins, or the text ends.'),
    lines: z
      .array(textLine)
      .optional()
      .describe(
        'The lines of the page that text recognition has read. Absent if it read none; one is left out if its words were torn apart.',
      ),
  })
  .meta({ id: 'TextPage', description: 'Where a page stands in the text of its document. Positions count Unicode code points, from 0.' });

const notRead = { extracted: null, indexedAt: null, chunkCount: null };

const documentName = displayName({ max: 200 }).meta({ examples: ['handbook.pdf'] });

const documentSort = z.enum(['createdAt', '-createdAt', 'name', '-name', 'size', '-size']).meta({ examples: ['name'] });
export type DocumentSort = z.infer<typeof documentSort>;

/** A tag, or several of them: `?tag=a&tag=b`. */
const wantedTags = z
  .union([tag.transform((one) => [one]), tags.min(1)], { error: 'must be a tag, or several' })
  .describe('Only documents that have this tag; given several times, all of them.')
  .meta({
    override: { type: 'array', items: { type: 'string', minLength: 1, maxLength: 64, pattern: linePattern }, minItems: 1, maxItems: 50 },
  })
  .meta({ examples: [['contract']] });

export const documents = c.router({
  list: {
    method: 'GET',
    path: '/workspaces/:workspaceId/documents',
    summary: 'List documents',
    description:
      'A page of the documents of a workspace that meet every filter, newest first unless `sort` says otherwise. `storage` describes the whole workspace, not the page.',
    pathParams: z.object({ workspaceId: givenId }),
    query: z.object({
      organizationId: givenId.describe('The organization that the workspace belongs to.'),
      limit: queryInteger({ min: 1, max: 200, defaultValue: 50 }).describe('How many are answered at the most.'),
      cursor: cursor.optional(),
      tag: wantedTags.optional(),
      contentType: contentType.optional().describe('Only documents of this type.'),
      status: documentStatus.optional().describe('Only documents with this status.'),
      name: withExample(
        singleLine({ min: 1, max: 200 })
          .optional()
          .describe('Only documents whose name contains this, whatever the case. A letter finds itself with an accent, too.'),
        'handbook',
      ),
      sort: documentSort
        .optional()
        .describe(
          'The order; `-` reverses it. By default `-createdAt`, the newest first. Names are compared in lower case by code point, in Unicode’s form NFD: `Ä` stands between `Az` and `B`. Ids decide among equals. A cursor belongs to its `sort`.',
        ),
    }),
    ...operation('documents.list', {
      access: 'document:read',
      errors: ['NOT_FOUND'],
      response: z.object({ items: z.array(documentSchema), nextCursor, storage: storageSchema }).meta({ id: 'DocumentPage' }),
    }),
  },
  search: searchDocuments,
  ask: askDocuments,
  askStream: askDocumentsStream,
  get: {
    method: 'GET',
    path: '/documents/:id',
    summary: 'Get a document',
    description: 'The document as recorded: its size and status, and what extraction and indexing made of it.',
    pathParams: z.object({ id: givenId }),
    ...operation('documents.get', { access: 'document:read', errors: ['NOT_FOUND'], response: documentSchema }),
  },
  createUpload: {
    method: 'POST',
    path: '/documents',
    summary: 'Begin an upload',
    description:
      'Records a pending document and returns a signed target: PUT the bytes to `upload.url` with exactly `upload.headers`, then call `documents.complete`. The declared size counts against the quota of the workspace at once. An upload not completed within a day is removed. With `sha256` the answer tells which document of the workspace has this content already, to who may read it; what follows is the workspace’s `onDuplicate`.',
    body: z
      .object({
        workspaceId: givenId,
        name: documentName,
        contentType,
        size: z
          .int()
          .min(1)
          .describe('Bytes; the stored object may be smaller, never larger. In an S3 store it must have exactly this size.')
          .meta({ examples: [48213] }),
        sha256: sha256
          .optional()
          .describe(
            'Of the bytes that will be uploaded: tells of a document that has them already, and what was stored is checked against it.',
          ),
        replaces: givenId
          .optional()
          .describe(
            'A complete document of the workspace, whose content this becomes once it is read. Its id, name, tags and metadata stay. Needs `document:delete`, too.',
          ),
        charset: charset
          .optional()
          .describe(
            'Of a text, Markdown, CSV, HTML or JSON file; other kinds have none. Without it, and without a byte order mark, it is found by the bytes.',
          ),
        tags: tags.optional(),
        metadata: metadata.optional(),
      })
      .meta({ id: 'CreateUpload' }),
    ...operation('documents.createUpload', {
      access: 'document:create',
      errors: ['NOT_FOUND', 'CONFLICT', 'LEGAL_HOLD', 'PAYLOAD_TOO_LARGE', 'LIMIT_REACHED'],
      idempotent: true,
      answerExample: { document: { ...notRead, status: 'pending' } },
      response: z
        .object({
          document: documentSchema,
          upload: uploadSchema
            .optional()
            .describe('Always there, unless the workspace’s `onDuplicate` is `return` and `document` is one that was uploaded before.'),
          duplicateOf: duplicateOf.optional(),
        })
        .meta({ id: 'UploadDescriptor' }),
    }),
  },
  complete: {
    method: 'POST',
    path: '/documents/:id/complete',
    summary: 'Complete an upload',
    description:
      'Measures the stored object, sets the size of the document to it and makes the document ready. Completing a ready document again returns the same document; of an upload that has replaced another document, that one. An object larger than declared is deleted. What it holds is for `document.extract` to say. One without the promised `sha256` is PRECONDITION_FAILED, and a content that the workspace has and takes only once is CONFLICT: the document stays pending. The jobs of the workspace’s `autoProcess` are queued in the same transaction; those for which the credits do not suffice are left out.',
    pathParams: z.object({ id: givenId }),
    body: emptyBody,
    ...operation('documents.complete', {
      access: 'document:create',
      errors: ['NOT_FOUND', 'CONFLICT', 'PRECONDITION_FAILED', 'PAYLOAD_TOO_LARGE', 'LIMIT_REACHED'],
      answerExample: notRead,
      response: documentSchema,
    }),
  },
  update: {
    method: 'PATCH',
    path: '/documents/:id',
    summary: 'Change a document',
    description:
      'Changes what is given and leaves the rest, also while the upload is not complete. `tags` and `metadata` are replaced as a whole: `[]` and `{}` remove them. The text stays as it is until `document.extract` reads the document again, by the new `charset`.',
    pathParams: z.object({ id: givenId }),
    body: z
      .object({
        name: documentName.optional(),
        charset: charset.nullable().optional().describe('Of a text; null to have it found by the bytes.'),
        tags: tags.optional(),
        metadata: metadata.optional(),
      })
      .optional()
      .meta({ id: 'UpdateDocument' }),
    ...operation('documents.update', { access: 'document:create', errors: ['NOT_FOUND', 'LEGAL_HOLD'], response: documentSchema }),
  },
  versions: {
    method: 'GET',
    path: '/documents/:id/versions',
    summary: 'List the versions of a document',
    description: 'What the document was before, the current version first. Only the current one still has its bytes.',
    pathParams: z.object({ id: givenId }),
    query: z.object({ limit: queryInteger({ min: 1, max: 200, defaultValue: 50 }).describe('How many are answered at the most.') }),
    ...operation('documents.versions', {
      access: 'document:read',
      errors: ['NOT_FOUND'],
      response: z.object({ items: z.array(documentVersion) }).meta({ id: 'DocumentVersions' }),
    }),
  },
  downloadUrl: {
    method: 'GET',
    path: '/documents/:id/download-url',
    summary: 'Get a signed download URL',
    description: 'A URL that downloads the document without a session, for five minutes.',
    pathParams: z.object({ id: givenId }),
    ...operation('documents.downloadUrl', {
      access: 'document:read',
      errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
      response: z.object({ url: z.url().meta({ examples: [downloadUrl] }), expiresAt: dateTime }).meta({ id: 'DownloadUrl' }),
    }),
  },
  text: {
    method: 'GET',
    path: '/documents/:id/text',
    summary: 'Get the extracted text',
    description:
      'The text that a succeeded job extracted; null until then. `truncated` tells that the document had more text than is kept. With `page` only the text of that page, without the white space around it: NOT_FOUND if the document has no such page.',
    pathParams: z.object({ id: givenId }),
    query: z.object({ page: optionalQueryInteger({ min: 1, max: 100_000 }).describe('Only this page, from 1.') }),
    ...operation('documents.text', {
      access: 'document:read',
      errors: ['NOT_FOUND'],
      response: z
        .object({
          documentId: id,
          text: withExample(z.string().nullable(), 'Mirrors are washed with deionised water on the first Monday of each month.'),
          truncated: z.boolean().meta({ examples: [false] }),
          extracted: extracted.nullable(),
          page: textPage.optional().describe('Only if a page was asked for, and there is a text.'),
        })
        .meta({ id: 'DocumentText' }),
    }),
  },
  delete: {
    method: 'DELETE',
    path: '/documents/:id',
    summary: 'Delete a document',
    description:
      'Removes the document, its text and its chunks at once, and gives its bytes back to the quota; the stored object follows durably.',
    pathParams: z.object({ id: givenId }),
    ...operation('documents.delete', { access: 'document:delete', errors: ['NOT_FOUND', 'LEGAL_HOLD'], response: deleted }),
  },
});
