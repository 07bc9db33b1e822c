import type { Contract } from '../../contract/index.ts';
import { type Calling, connect, createCalls, defaultTimeoutMs, newKey } from './call.ts';
import { type AnswerOptions, followAnswer } from './follow-answer.ts';
import { type SomeRetryOptions, toRetries, withRetries } from './retry.ts';
import { type Auth, createSession } from './session.ts';
import { followJobs, type JobStream, type StreamOptions } from './stream.ts';
import { createTransport } from './transport.ts';
import type { AnswerEvent, Document, InputOf, Job, JobEvent, Procedures } from './types.ts';
import { type Upload, uploadDocument } from './upload.ts';
import { type WaitOptions, waitForJob } from './wait-for-job.ts';

export interface ClientOptions {
  /** The root of the service: `https://api.example.com`. */
  url: string | URL;
  /** `bearer` (default) keeps a token in memory; `cookie` leaves the session to the browser. The service must trust the page's origin. */
  session?: 'bearer' | 'cookie' | undefined;
  /** The bearer token of an earlier sign-in. */
  token?: string | undefined;
  /** Called with every new token, and with undefined when it ends, so that it can be stored. */
  onToken?: ((token: string | undefined) => void) | undefined;
  retries?: SomeRetryOptions | undefined;
  /** How long one try of a call may take, and how long the bytes of an upload may stand still, in milliseconds. 75 s by default. */
  timeoutMs?: number | undefined;
  /** Used instead of the global one, except for the bytes of uploads if there is XMLHttpRequest. */
  fetch?: typeof globalThis.fetch | undefined;
}

type Jobs = Omit<Procedures<Contract['jobs']>, 'stream'> & {
  /**
   * Follows the jobs of an organization, or of one workspace. Resolves once the stream is open, so that no later change is missed.
   * Rejects, then or while it is read, if it is refused or cannot be opened again.
   */
  stream(input: InputOf<Contract['jobs']['stream']>, options?: StreamOptions): Promise<JobStream>;
};

type Documents = Omit<Procedures<Contract['documents']>, 'askStream'> & {
  /** Asks, and yields the sentences of the answer, then its end. Goes on where it was when the connection breaks. */
  askStream(input: InputOf<Contract['documents']['askStream']>, options?: AnswerOptions): AsyncGenerator<AnswerEvent, void, undefined>;
};

/** The operations of the service by group and name, and some that combine several of them. */
export interface Client extends Omit<Procedures<Contract>, 'documents' | 'jobs'> {
  documents: Documents;
  jobs: Jobs;
  auth: Auth;
  /** Uploads a document: records it, sends its bytes, completes it. Rejects with SheafError, or with the signal's reason. */
  uploadDocument(upload: Upload): Promise<Document>;
  /**
   * Resolves with a job once it is `succeeded` or `canceled`. Rejects with a {@link SheafError} once it has failed: with the code and message
   * of the job's `error`, and the job as `data`. It polls; to wait for many jobs, follow `jobs.stream`.
   */
  waitForJob(id: string, options?: WaitOptions): Promise<Job>;
}

/** A client of one service, as one user. Throws TypeError if the url is none that can be called, or the token none that can be sent. */
export function createClient(options: ClientOptions): Client {
  const { session: mode = 'bearer', onToken, timeoutMs = defaultTimeoutMs } = options;
  const token = options.token?.trim();
  const url = String(options.url).replace(/(?<!\/)\/+$/, '');
  if (!/^https?:\/\//i.test(url)) throw new TypeError(`url (${url}) must be that of the service, such as https://api.example.com.`);
  // The error of a header would show the token.
  if (token !== undefined && !/^[!-~]+$/.test(token))
    throw new TypeError('token must not be empty, nor have blanks or line breaks within it.');
  const fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
  const retries = toRetries(options.retries);
  const { session, auth } = createSession({ url, mode, token, onToken, fetch, retries, timeoutMs });
  const calling: Calling = { transport: createTransport({ url, session, fetch }), retries, timeoutMs };
  const calls = createCalls(calling) as unknown as Procedures<Contract>;
  return {
    ...calls,
    auth,
    documents: { ...calls.documents, askStream: (input, options) => followAnswer(calling, input, options) },
    jobs: { ...calls.jobs, stream: (input, streamOptions) => openStream(calling, input, streamOptions) },
    uploadDocument: (upload) => uploadDocument({ documents: calls.documents, retries, timeoutMs, fetch }, upload),
    waitForJob: (id, waitOptions = {}) => waitForJob(calls.jobs.get, id, waitOptions),
  };
}

async function openStream(calling: Calling, input: object, { signal, lastEventId }: StreamOptions = {}): Promise<JobStream> {
  const { retries } = calling;
  const hungUp = new AbortController();
  const ended = signal ? AbortSignal.any([signal, hungUp.signal]) : hungUp.signal;
  // By this id the service knows that this connection replaces a broken one.
  const streamId = newKey();
  const open = (after: string | undefined) =>
    connect<JobEvent>(calling, { path: ['jobs', 'stream'], input, streamId, signal: ended, lastEventId: after });
  const first = await withRetries({ retries, repetition: 'repeatable', signal }, () => open(lastEventId));
  return followJobs({ first, open, retries, signal: ended, hangUp: () => hungUp.abort(), lastEventId });
}
