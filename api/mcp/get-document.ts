import { z } from 'zod';
import { ApiError } from '../../contract/api-error.ts';
import { pageNumber, position } from '../../contract/fields.ts';
import { contract } from '../../contract/index.ts';
import { countCharacters, forward } from '../../domain/characters.ts';
import { invalidInput } from '../http/errors.ts';
import { documentId } from './fields.ts';
import { defineTool } from './tool.ts';

const defaultCharacters = 20_000;
const maxCharacters = 100_000;

export const getDocument = defineTool({
  name: 'get_document',
  title: 'Read a document',
  description:
    'What is known of a document, and its text: of one page, the first unless you name another, or of a part if it has no pages. `nextPage` or `nextStart` leads on. The text is null until the document was extracted.',
  operations: [contract.documents.get, contract.documents.text],
  writes: false,
  input: z.object({
    documentId,
    page: pageNumber.max(100_000).optional().describe('The page to read, from 1.'),
    start: position.default(0).describe('Where to begin in the page, or in the text of a document without pages, in characters.'),
    characters: z.int().min(1).max(maxCharacters).default(defaultCharacters).describe('How much to read at the most.'),
  }),
  async call({ documentId: id, page, start, characters }, { procedures, run }) {
    const document = await run(procedures.documents.get, { id });
    const pages = document.extracted?.pages ?? null;
    if (document.extracted !== null && page !== undefined && page > (pages ?? 0))
      throw new ApiError('NOT_FOUND', {
        message: `There is no page ${page}: the document has ${pages ?? 'no'} ${pages === 1 ? 'page' : 'pages'}.`,
      });
    const number = page ?? (pages === null ? undefined : 1);
    const { text } = await run(procedures.documents.text, { id, page: number });
    if (text === null) return { document, text, page: null, nextPage: null, nextStart: null };
    const part = cut(text, start, characters);
    const nextPage = part.nextStart === null && number !== undefined && pages !== null && number < pages ? number + 1 : null;
    return { document, page: number ?? null, ...part, nextPage };
  },
});

/** Throws BAD_REQUEST if the text ends before `start`. */
function cut(text: string, start: number, characters: number): { text: string; nextStart: number | null } {
  const total = countCharacters(text);
  if (start > total) throw invalidInput([{ path: ['start'], message: `must be at most ${total}, the length of the text` }]);
  const from = forward(text, 0, start);
  const to = forward(text, from, characters);
  const part = text.slice(from, to);
  return { text: part, nextStart: to < text.length ? start + countCharacters(part) : null };
}
