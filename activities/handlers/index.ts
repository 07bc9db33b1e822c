import type { JobKind } from '../../db/schema.ts';
import { extractDocument } from './extract-document.ts';
import type { Handler } from './handler.ts';
import { indexDocument } from './index-document.ts';
import { summarizeDocument } from './summarize-document.ts';
import { embedTexts, summarizeText } from './text.ts';

/** The handler of each kind. A worker polls the task queues of these kinds and no others. */
export const handlers: Record<JobKind, Handler> = {
  'document.extract': extractDocument,
  'document.summarize': summarizeDocument,
  'document.index': indexDocument,
  'text.summarize': summarizeText,
  'text.embed': embedTexts,
};
