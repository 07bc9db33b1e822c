import { z } from 'zod';
import { storable } from './values.ts';

const model = z.object({
  model: storable,
  dimensions: z.int().positive().nullable().describe('Null until a remote model has responded once.'),
  chunk_characters: z.int().positive().describe('How long the chunks of a document should be.'),
  texts_per_call: z.int().positive().describe('How many texts a call should have at most.'),
});

/** The state of the service, without any secret. */
export const health = z.object({
  ok: z.boolean(),
  provider: z.enum(['local', 'remote']).describe('What embeds.'),
  chat: z
    .enum(['local', 'remote'])
    .optional()
    .describe('What summarizes and answers. Only a remote model extracts fields. Absent from a service of the version before.'),
  ocr: z.enum(['local', 'remote', 'none']),
  auth: z.enum(['token', 'disabled']),
  problems: z.array(z.string()).describe('One sentence for each reason why the configuration cannot serve.'),
  embeddings: z.tuple([model], model).describe('The models that embed. The first is the one of this deployment.'),
});
