import { z } from 'zod';
import { count, storable } from './values.ts';

/** The JSON form of a document. It may also be sent as it is, with its media type, so the service reads this by itself. */
export const upload = z.object({ file: z.object({ name: z.string().optional(), content_type: z.string(), data_base64: z.string() }) });

/** With `true` in this header the response also has the outline of the text. */
export const outlineHeader = 'x-outline';

/** In this header the caller says how long it waits. What is read of a scanned PDF until then is its text. */
export const secondsHeader = 'x-seconds';
/** No timer runs longer. */
export const maxSeconds = 2_147_000;
export const seconds = z.coerce.number().pipe(z.int().min(1).max(maxSeconds)).default(100);

const share = z.int().min(0).max(10_000);
const box = [share, share, share, share] as const;

const outline = z.object({
  page_starts: z.array(count).nullable().describe('Where each page begins; null for kinds without pages.'),
  pages_end: count.optional().describe('Where the last page ends, if the texts of files within the document stand behind the pages.'),
  headings: z.array(z.object({ level: z.int().min(1), start: count, title: storable })),
  lines: z
    .array(z.tuple([count, count, ...box]))
    .optional()
    .describe('Where recognized lines begin and end, and their boxes on the page: left, top, width and height, in ten-thousandths of it.'),
});

/** The text of a document. */
export const extracted = z.object({
  text: storable,
  characters: count.describe('Length of the text in Unicode code points.'),
  pages: count.nullable().describe('Pages of a PDF or an image, or slides; null for kinds without pages.'),
  truncated: z.boolean(),
  content_type: z.string(),
  outline: outline
    .optional()
    .describe('Where the parts of the text begin, in Unicode code points. Only if the request has `X-Outline: true`.'),
  ocr_pages: count.optional().describe('How many pages of a scanned PDF text recognition has read; absent if none.'),
  ocr_confidence: z
    .array(z.int().min(0).max(100).nullable())
    .optional()
    .describe(
      'How sure the local text recognition was of each page, from 0 to 100; null for pages that it did not read, or on which it found nothing, or less than their own text.',
    ),
  notices: z
    .array(z.object({ code: storable, text: storable }))
    .optional()
    .describe('What was left out or had to be guessed, and why. Absent if there is nothing to say.'),
});

/** The media type of a response in lines of JSON: {@link progressLine} any number of times, then {@link lastLine}. */
export const linesMediaType = 'application/x-ndjson';

/** How many scanned pages are read, and of how many. */
export const progressLine = z.object({ progress: z.object({ read: count, of: count }) });

/** What the response would have been without progress; `retry_after` is in seconds, and `usage` that of the header. */
export const lastLine = z.object({ status: z.int(), retry_after: z.number().optional(), usage: z.string().optional(), body: z.unknown() });
