import { z } from 'zod';

/** The part of an answer of `/chat/completions` that matters: the text of the first choice. */
export const chatAnswer = z
  .object({ choices: z.array(z.object({ message: z.object({ content: z.string().nullable() }) })).min(1) })
  .transform(({ choices }) => choices[0]?.message.content?.trim() ?? '');
