/** The id of the workflow that waits for a document's upload. */
export function uploadWorkflowId(documentId: string): string {
  return `upload-${documentId}`;
}
