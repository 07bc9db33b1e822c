export type { ErrorCode, ErrorData, Issue, LimitKind } from '../../contract/errors.ts';
export type { Contract } from '../../contract/index.ts';
export type { JobKind, JobStatus } from '../../contract/jobs.ts';
export type { UploadSource } from './content.ts';
export { contentTypeOf, contentTypesByExtension } from './content-types.ts';
export { type Client, type ClientOptions, createClient } from './create-client.ts';
export { type LocalErrorCode, SheafError } from './errors.ts';
export type { AnswerOptions } from './follow-answer.ts';
export type { RetryOptions, SomeRetryOptions } from './retry.ts';
export type { Auth, Organization, SignedUser } from './session.ts';
export { sliceCharacters } from './slice-characters.ts';
export type { JobStream, StreamOptions } from './stream.ts';
export type {
  Answer,
  AnswerEvent,
  CallOptions,
  Charset,
  ContentType,
  Document,
  InputOf,
  Job,
  JobEvent,
  OutputOf,
  Procedure,
  Procedures,
  SearchResults,
  Workspace,
} from './types.ts';
export type { Upload } from './upload.ts';
export { isFinal, type WaitOptions } from './wait-for-job.ts';
