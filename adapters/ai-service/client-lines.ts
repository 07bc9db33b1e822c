import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import { lastLine, progressLine } from '../../contract/ai-service/extract.ts';
import type { ReceivedResponse } from './client-error.ts';

/** How far the service has come with a document: scanned pages that are read. */
export type ExtractionProgress = z.output<typeof progressLine>['progress'];

/**
 * Reads a response in lines of JSON, calls `onProgress` for each line of progress, and returns the response in the last line. Its text is
 * empty if the lines end too early.
 */
export async function readLines(lines: Readable, onProgress: (progress: ExtractionProgress) => void): Promise<ReceivedResponse> {
  let received: ReceivedResponse = { status: 200, retryAfter: undefined, text: '' };
  for await (const line of createInterface({ input: lines })) {
    const parsed = parse(line);
    const progress = progressLine.safeParse(parsed);
    if (progress.success) {
      onProgress(progress.data.progress);
      continue;
    }
    const last = lastLine.safeParse(parsed).data;
    if (!last) continue;
    const { status, retry_after: retryAfter, usage, body } = last;
    received = { status, retryAfter: retryAfter?.toString(), usage, text: JSON.stringify(body) };
  }
  return received;
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
