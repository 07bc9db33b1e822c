import { objectKey } from '../../adapters/storage/object-key.ts';
import { ApiError } from '../../contract/api-error.ts';
import type { AutomaticJobKind } from '../../contract/fields.ts';
import { contract } from '../../contract/index.ts';
import { inTransaction } from '../../db/transaction.ts';
import { completeUpload, measureUpload } from '../../domain/documents/complete-upload.ts';
import { checkContentType, checkDeclaredSize, createUpload } from '../../domain/documents/create-upload.ts';
import { deleteDocument } from '../../domain/documents/delete-document.ts';
import { findDocument, getDocument, getReplaced } from '../../domain/documents/document.ts';
import { findTextPage, getText, readTextPage } from '../../domain/documents/document-text.ts';
import { digestIfNeeded, meetDuplicate } from '../../domain/documents/duplicates.ts';
import { listDocuments } from '../../domain/documents/list-documents.ts';
import { updateDocument } from '../../domain/documents/update-document.ts';
import { listVersions } from '../../domain/documents/versions.ts';
import { newId } from '../../domain/ids.ts';
import { expectLateUpload } from '../../domain/stored-objects/late-uploads.ts';
import { getWorkspace } from '../../domain/workspaces/workspace.ts';
import { checkPermission, holdsPermission, organizationsOf } from '../caller.ts';
import type { ApiDeps } from '../deps.ts';
import { hasKind } from '../extra-kinds.ts';
import { withIdempotency } from '../idempotency.ts';
import { toDocument, toExtracted, toVersion } from '../presenters/document.ts';
import { toStorage } from '../presenters/workspace.ts';
import { procedure } from '../procedure.ts';
import { documentAsk, documentAskStream } from './document-ask.ts';
import { documentSearch } from './document-search.ts';

/** The stored response to a repeated request. */
type RecordedUpload = ReturnType<typeof toDocument> & { duplicateOf?: { id: string; name: string } };

export function documentProcedures(deps: ApiDeps) {
  const { db, getPlan, storage, cursors, config } = deps;
  return {
    list: procedure(contract.documents.list, async ({ input, authorize }) => {
      await authorize(input.organizationId, input.workspaceId);
      const workspace = await getWorkspace(db, input.workspaceId);
      if (workspace.organization_id !== input.organizationId) throw new ApiError('FORBIDDEN');
      const { workspaceId, limit, cursor, tag: tags, contentType, status, name, sort } = input;
      const contentTypes = contentType === undefined ? undefined : [contentType];
      const page = await listDocuments(db, cursors, { workspaceId, limit, cursor, tags, contentTypes, status, name, sort });
      return {
        items: page.items.map(toDocument),
        nextCursor: page.nextCursor,
        storage: toStorage(workspace, await getPlan(db, input.organizationId)),
      };
    }),

    search: documentSearch(deps),

    ask: documentAsk(deps),

    askStream: documentAskStream(deps),

    get: procedure(contract.documents.get, async ({ input, authorize }) => {
      const document = await getDocument(db, input.id);
      await authorize(document.organization_id, document.workspace_id);
      return toDocument(document);
    }),

    createUpload: procedure(contract.documents.createUpload, async (context) => {
      const { input, caller, actor, authorize } = context;
      const { workspaceId, size: sizeBytes, ...rest } = input;
      checkContentType(rest.contentType, config.extraContentTypes);
      const sign = async ({ id, organizationId }: { id: string; organizationId: string }) => {
        const target = await storage.signUpload({ key: objectKey(organizationId, id), contentType: rest.contentType, sizeBytes });
        return { id, upload: { ...target, expiresAt: target.expiresAt.toISOString() } };
      };
      let signed: Awaited<ReturnType<typeof sign>> | undefined;
      const { duplicateOf, ...document } = await withIdempotency<RecordedUpload>(
        db,
        contract.documents.createUpload,
        context,
        async (once) => {
          const { organization_id: organizationId } = await getWorkspace(db, workspaceId);
          await authorize(organizationId, workspaceId);
          checkDeclaredSize(sizeBytes, config.storage.maxUploadBytes);
          const mayRead = holdsPermission(caller, { organizationId, workspaceId }, 'document:read');
          if (rest.replaces !== undefined) checkPermission(caller, { organizationId, workspaceId }, 'document:delete');
          const { duplicate, isReturned } = await meetDuplicate(db, { ...rest, workspaceId, sha256: rest.sha256, mayRead });
          const known = duplicate && { duplicateOf: { id: duplicate.id, name: duplicate.name } };
          if (duplicate && isReturned) return once(async () => ({ ...toDocument(duplicate), ...known }));
          const id = newId();
          // Signs before the document counts: a document that nobody can upload would use up quota for a day.
          signed = await sign({ id, organizationId });
          const upload = { ...rest, id, organizationId, workspaceId, sizeBytes };
          return once(async (trx) => ({ ...toDocument(await createUpload(trx, getPlan, actor, upload)), ...known }));
        },
      );
      const told = duplicateOf ? { duplicateOf } : {};
      if (document.status === 'ready') return { document, ...told };
      if (signed?.id !== document.id) {
        await expectLateUpload(db, document);
        signed = await sign(document);
      }
      return { document, upload: signed.upload, ...told };
    }),

    complete: procedure(contract.documents.complete, async ({ input, caller, actor, log, authorize }) => {
      const document = (await findDocument(db, input.id)) ?? (await getReplaced(db, organizationsOf(caller), input.id));
      await authorize(document.organization_id, document.workspace_id);
      if (document.status === 'ready') return toDocument(document);
      const measuredBytes = await measureUpload(storage, document, (error) =>
        log.warn({ err: error }, 'an object larger than declared could not be deleted'),
      );
      await digestIfNeeded(db, storage, document);
      const place = { organizationId: document.organization_id, workspaceId: document.workspace_id };
      const mayRead = holdsPermission(caller, place, 'document:read');
      const measured = { measuredBytes, hasKind: (kind: AutomaticJobKind) => hasKind(deps.config, kind), mayRead };
      return toDocument(await inTransaction(db, (trx) => completeUpload(trx, getPlan, actor, document, measured)));
    }),

    update: procedure(contract.documents.update, async ({ input, actor, authorize }) => {
      const document = await getDocument(db, input.id);
      await authorize(document.organization_id, document.workspace_id);
      return toDocument(await inTransaction(db, (trx) => updateDocument(trx, actor, document, input)));
    }),

    versions: procedure(contract.documents.versions, async ({ input, authorize }) => {
      const document = await getDocument(db, input.id);
      await authorize(document.organization_id, document.workspace_id);
      return { items: (await listVersions(db, document, input.limit)).map(toVersion) };
    }),

    downloadUrl: procedure(contract.documents.downloadUrl, async ({ input, authorize }) => {
      const document = await getDocument(db, input.id);
      await authorize(document.organization_id, document.workspace_id);
      if (document.status !== 'ready')
        throw new ApiError('PRECONDITION_FAILED', { message: 'The upload of this document is not complete.' });
      const { url, expiresAt } = await storage.signDownload({
        key: document.object_key,
        contentType: document.content_type,
        fileName: document.name,
      });
      return { url, expiresAt: expiresAt.toISOString() };
    }),

    text: procedure(contract.documents.text, async ({ input, authorize }) => {
      const document = await getDocument(db, input.id);
      await authorize(document.organization_id, document.workspace_id);
      const page = input.page === undefined ? null : await findTextPage(db, document, input.page);
      const text = page ? await readTextPage(db, document.id, page) : await getText(db, document.id);
      const { id: documentId, extracted_truncated: truncated } = document;
      return { documentId, text, truncated: truncated ?? false, extracted: toExtracted(document), ...(page ? { page } : {}) };
    }),

    delete: procedure(contract.documents.delete, async ({ input, actor, authorize }) => {
      const document = await getDocument(db, input.id);
      await authorize(document.organization_id, document.workspace_id);
      await inTransaction(db, (trx) => deleteDocument(trx, actor, document));
      return { id: document.id };
    }),
  };
}
