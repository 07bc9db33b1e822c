import { type Kysely, sql } from 'kysely';

/**
 * Chunks refer to their document with its tenant, so that none can name another workspace or organization than its document's; the
 * three references before did not know of each other, and each was asked for every chunk. And a chunk's row stays whole.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  // In the order in which the service locks them, so that neither waits for the other for ever. All chunks are checked meanwhile.
  `lock table organization, workspace, document, chunk in access exclusive mode`,
  `alter table document add constraint document_tenant unique (id, workspace_id, organization_id)`,
  `alter table chunk
     drop constraint chunk_organization_id_fkey,
     drop constraint chunk_workspace_id_fkey,
     drop constraint chunk_document_id_fkey,
     add constraint chunk_document_fkey foreign key (document_id, workspace_id, organization_id)
       references document (id, workspace_id, organization_id) on delete cascade`,
  // Rows of 2 kB would be compressed, or their vectors put elsewhere, at half of what storing costs; a search would fetch each of them from there.
  `alter table chunk set (toast_tuple_target = 8160)`,
];
