import type { Request, Response } from 'express';
import type { z } from 'zod';
import { type lastLine, linesMediaType, type progressLine } from '../../contract/ai-service/extract.ts';
import { ServiceError } from '../service-error.ts';
import { readTally, tellUsage } from '../usage.ts';

type Progress = z.input<typeof progressLine>['progress'];

/** A response that may report progress, to a caller that accepts lines of JSON. Without progress it is an ordinary response. */
export class ProgressLines {
  readonly #response: Response;
  /** Reports progress; undefined if the caller does not accept lines. */
  readonly report: ((progress: Progress) => void) | undefined;

  constructor(request: Request, response: Response) {
    this.#response = response;
    if (request.get('accept')?.includes(linesMediaType)) this.report = (progress) => this.#write({ progress });
  }

  /** Ends the response with the result of `work`, or with its error. */
  async end(work: () => Promise<object>): Promise<void> {
    try {
      const body = await work();
      if (!this.#response.headersSent) tellUsage(this.#response).json(body);
      else this.#end({ status: 200, usage: readTally(), body });
    } catch (error) {
      // An error that is no refusal ends the connection, and the caller retries.
      if (!this.#response.headersSent || !(error instanceof ServiceError)) throw error;
      const { status, code, retryAfterSeconds } = error;
      this.#response.locals.errorCode = code;
      this.#end({ status, retry_after: retryAfterSeconds, usage: readTally(), body: error.toBody() });
    }
  }

  #end(line: z.input<typeof lastLine>): void {
    this.#response.end(`${JSON.stringify(line)}\n`);
  }

  #write(line: z.input<typeof progressLine>): void {
    if (!this.#response.headersSent) this.#response.status(200).type(linesMediaType);
    this.#response.write(`${JSON.stringify(line)}\n`);
  }
}
