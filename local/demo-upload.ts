import { createReadStream } from 'node:fs';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { Transform } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { DemoFile } from './demo-files.ts';

export interface SignedTarget {
  url: string;
  headers: Record<string, string>;
}

/** Sends a file's bytes to its signed target, and tells how many are on their way. Throws an error for the user when the target refuses them. */
export async function putFile(
  file: DemoFile,
  target: SignedTarget,
  { onProgress, signal }: { onProgress: (sentBytes: number) => void; signal: AbortSignal },
): Promise<void> {
  const send = target.url.startsWith('https:') ? requestHttps : requestHttp;
  // Fetch would send a stream without the Content-Length that the target asks for.
  const request = send(target.url, { method: 'PUT', headers: { ...target.headers, 'content-length': file.sizeBytes }, signal });
  const answered = new Promise<{ status: number; body: string }>((resolve, reject) => {
    request.once('error', reject);
    request.once('response', (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    });
  });
  // A file that grows meanwhile is cut at the size that was declared.
  const source = createReadStream(file.path, { end: file.sizeBytes - 1 });
  // A refusal may close the connection under the upload: the answer says more than the broken pipe.
  const [sent, answer] = await Promise.allSettled([pipeline(source, meter(onProgress), request), answered]);
  signal.throwIfAborted();
  if (answer.status === 'rejected') throw sent.status === 'rejected' ? sent.reason : answer.reason;
  const { status, body } = answer.value;
  if (status < 200 || status > 299) throw new Error(`the upload was refused with ${status} ${body.slice(0, 200)}`.trim());
}

function meter(onProgress: (sentBytes: number) => void): Transform {
  let sentBytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sentBytes += chunk.length;
      onProgress(sentBytes);
      done(null, chunk);
    },
  });
}
