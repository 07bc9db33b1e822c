import { request } from 'node:http';
import type { Answer, TestApi } from './api.ts';
import { recorder } from './recorder.ts';

export interface RawRequest {
  method: string;
  path: string;
  headers?: Record<string, string>;
  /** Sent as it is; several parts are sent chunked unless a Content-Length is given. */
  body?: (string | Buffer)[];
}

/** Sends what fetch refuses to send: a GET with a body, a chunked body, a body that is shorter than its length. */
export async function sendRaw(api: TestApi, { method, path, headers = {}, body = [] }: RawRequest): Promise<Answer> {
  const answer = await new Promise<Answer>((resolve, reject) => {
    const framing = body.length === 0 || headers['content-length'] ? {} : { 'transfer-encoding': 'chunked' };
    const sent = request(`${api.url}${path}`, { method, headers: { ...headers, ...framing }, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const json = response.headers['content-type']?.includes('json');
        resolve({
          status: response.statusCode ?? 0,
          headers: new Headers(Object.entries(response.headers).map(([name, value]) => [name, String(value)])),
          body: json && text !== '' ? JSON.parse(text) : text,
        });
      });
      response.on('error', reject);
    });
    // The API may answer and hang up before it has read everything.
    sent.on('error', (error: NodeJS.ErrnoException) => (error.code === 'EPIPE' || error.code === 'ECONNRESET' ? undefined : reject(error)));
    for (const part of body) sent.write(part);
    sent.end();
  });
  recorder.check({ method, path, requestHeaders: new Headers(headers), ...answer });
  return answer;
}
