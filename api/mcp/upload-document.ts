import { createHash } from 'node:crypto';
import { z } from 'zod';
import { objectKey } from '../../adapters/storage/object-key.ts';
import { ApiError } from '../../contract/api-error.ts';
import { contract } from '../../contract/index.ts';
import { workspaceId } from './fields.ts';
import { defineTool, workspaceFor } from './tool.ts';

const { name, contentType, charset, tags, metadata } = contract.documents.createUpload.body.shape;

/** How long the document of an upload that failed waits to be deleted. */
const withdrawalMs = 5_000;

export const uploadDocument = defineTool({
  name: 'upload_document',
  title: 'Upload a document',
  description:
    'Stores a document of at most about 700 kB in a workspace. Then create a job: `document.index` makes it searchable, and extracts its text first.',
  operations: [contract.documents.createUpload, contract.documents.complete],
  writes: true,
  input: z.object({
    workspaceId,
    name,
    contentType,
    text: z
      .string()
      .min(1)
      .refine((text) => text.isWellFormed(), 'must be well-formed Unicode')
      .optional()
      .describe('The content, if it is text.'),
    base64: z.base64().min(1).optional().describe('The content in base64, if it is not text.'),
    charset: charset.describe('Of a text in base64 that is not in UTF-8.'),
    tags,
    metadata,
  }),
  async call({ workspaceId: named, text, base64, charset, ...rest }, context) {
    const { procedures, run, storage } = context;
    const bytes = toBytes(text, base64);
    const { document, upload } = await run(procedures.documents.createUpload, {
      ...rest,
      charset: text === undefined ? charset : undefined,
      workspaceId: workspaceFor(context, named),
      size: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    });
    if (!upload) return { document };
    const { id } = document;
    try {
      await storage.write(objectKey(document.organizationId, id), inChunks(bytes));
      return { document: await run(procedures.documents.complete, { id }) };
    } catch (error) {
      // It would count against the quota for a day, as it does of a caller who may not delete. The client may have left.
      await run(procedures.documents.delete, { id }, AbortSignal.timeout(withdrawalMs)).catch(() => undefined);
      throw error;
    }
  },
});

function toBytes(text: string | undefined, base64: string | undefined): Buffer {
  if (text !== undefined && base64 === undefined) return Buffer.from(text);
  if (text === undefined && base64 !== undefined) return Buffer.from(base64, 'base64');
  const message = 'Give either text or base64.';
  throw new ApiError('BAD_REQUEST', { message, data: { issues: [{ path: ['text'], message }] } });
}

async function* inChunks(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
