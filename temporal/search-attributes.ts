import type { Client } from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';

/** What an operator can search workflows by. Ids and kinds only: no personal data. */
export const searchAttributes = {
  organizationId: defineSearchAttributeKey('OrganizationId', 'KEYWORD'),
  workspaceId: defineSearchAttributeKey('WorkspaceId', 'KEYWORD'),
  documentId: defineSearchAttributeKey('DocumentId', 'KEYWORD'),
  jobKind: defineSearchAttributeKey('JobKind', 'KEYWORD'),
  jobStatus: defineSearchAttributeKey('JobStatus', 'KEYWORD'),
};

const keyword = 2;

/** Registers the search attributes that the namespace lacks; safe to call at every start. */
export async function registerSearchAttributes(client: Client, namespace: string): Promise<void> {
  const { operatorService } = client.connection;
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  const missing = Object.values(searchAttributes).filter(({ name }) => !(name in (customAttributes ?? {})));
  if (missing.length === 0) return;
  await operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(missing.map(({ name }) => [name, keyword])),
  });
}
