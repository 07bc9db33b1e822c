import type { Request, Response } from 'express';
import { ServiceError } from '../service-error.ts';

const mediaType = 'application/x-ndjson';

/**
 * A response that may report progress, to a caller that accepts lines of JSON: `{ progress }` any number of times, then `{ status, body,
 * retry_after }` with what the response would have been otherwise. Without progress it is an ordinary response.
 */
export class ProgressLines {
  readonly #response: Response;
  /** Reports progress; undefined if the caller does not accept lines. */
  readonly report: ((progress: object) => void) | undefined;

  constructor(request: Request, response: Response) {
    this.#response = response;
    if (request.get('accept')?.includes(mediaType)) this.report = (progress) => this.#write({ progress });
  }

  /** Ends the response with the result of `work`, or with its error. */
  async end(work: () => Promise<object>): Promise<void> {
    try {
      const body = await work();
      if (!this.#response.headersSent) this.#response.json(body);
      else this.#response.end(`${JSON.stringify({ status: 200, body })}\n`);
    } catch (error) {
      // An error that is no refusal ends the connection, and the caller retries.
      if (!this.#response.headersSent || !(error instanceof ServiceError)) throw error;
      const { status, code, message, retryAfterSeconds } = error;
      this.#response.locals.errorCode = code;
      this.#response.end(`${JSON.stringify({ status, retry_after: retryAfterSeconds, body: { error: { code, message } } })}\n`);
    }
  }

  #write(line: object): void {
    if (!this.#response.headersSent) this.#response.status(200).type(mediaType);
    this.#response.write(`${JSON.stringify(line)}\n`);
  }
}
