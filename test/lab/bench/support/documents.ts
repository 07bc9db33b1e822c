import type { Service } from './service.ts';

/** Uploads a document as a client does: creates it, sends its bytes, completes it. Returns its id. */
export async function addDocument(service: Service, name: string, text: string): Promise<string> {
  const bytes = Buffer.from(text);
  const body = { workspaceId: service.workspaceId, name: `${name}.txt`, contentType: 'text/plain', size: bytes.length };
  const { document, upload } = await service.call('POST', '/api/v1/documents', body);
  const put = await fetch(upload.url, { method: 'PUT', headers: upload.headers, body: new Uint8Array(bytes) });
  await put.arrayBuffer();
  if (put.status !== 200) throw new Error(`PUT: ${put.status}`);
  await service.call('POST', `/api/v1/documents/${document.id}/complete`);
  return document.id;
}
