import type { Response } from 'express';
import { contentDisposition } from '../../adapters/storage/content-disposition.ts';
import { noteOrganization } from '../http/request.ts';
import type { DownloadPermits } from './download-permits.ts';
import { errorBody, keyOf, type ObjectRequest, queryOf, type UploadOptions } from './object-request.ts';

/** The seconds after which a client may retry if its organization has too many downloads. */
const retrySeconds = 5;

const errorCodes: Record<number, string> = { 404: 'not_found', 412: 'precondition_failed', 416: 'range_not_satisfiable' };

/**
 * GET and HEAD of a document's bytes, one range at a time if the client asks for one. A document is whatever a member uploaded, so
 * browsers save it and never show it: an HTML page opened at this address would otherwise act for this site.
 */
export async function download(options: UploadOptions, permits: DownloadPermits, req: ObjectRequest, res: Response): Promise<void> {
  const { storage, findDeclaredBytes } = options;
  const key = keyOf(req);
  const grant = storage.readGrant({ method: 'GET', key, query: queryOf(req) });
  if (grant?.method !== 'GET') return fail(res, 403, 'invalid_signature');
  noteOrganization(res, req.params.organizationId);
  const permit = await permits.take(req.params.organizationId, res);
  if (permit === 'left') return;
  if (permit === 'busy') {
    res.setHeader('Retry-After', retrySeconds);
    return fail(res, 429, 'too_many_downloads');
  }
  const isDocument = (await findDeclaredBytes(req.params.organizationId, req.params.documentId)) !== undefined;
  const object = isDocument ? await storage.stat(key) : undefined;
  if (!object) return fail(res, 404, 'not_found');
  clampSuffix(req, object.sizeBytes);
  const headers: Record<string, string> = {
    'Content-Type': grant.contentType,
    'Content-Disposition': contentDisposition(grant.fileName),
    'Content-Security-Policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'private, no-store',
  };
  res.sendFile(key, { root: storage.location, cacheControl: false, headers }, (error) => {
    // Express says so of a client that has left.
    if (!error || ('code' in error && error.code === 'ECONNABORTED')) return;
    // A part of the file is already sent: the client must see that the download broke off.
    if (res.headersSent) return res.destroy();
    for (const name of ['Content-Disposition', 'Content-Length', 'ETag', 'Last-Modified']) res.removeHeader(name);
    const status = 'statusCode' in error ? Number(error.statusCode) : 500;
    const code = errorCodes[status];
    return code === undefined ? req.next?.(error) : fail(res, status, code);
  });
}

/**
 * The end of a file that is longer than the file means all of it (RFC 9110, 14.1.2), even if the file is empty. The parser of `sendFile`
 * treats it as unsatisfiable.
 */
function clampSuffix({ headers }: ObjectRequest, size: number): void {
  const suffix = /^bytes=\s*-(\d+)\s*$/.exec(headers.range ?? '');
  if (!suffix || Number(suffix[1]) <= size) return;
  if (size === 0) delete headers.range;
  else headers.range = 'bytes=0-';
}

function fail(res: Response, status: number, error: string): void {
  const body = errorBody(res, error);
  res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': body.length }).end(body);
}
