import { z } from 'zod';

const names = ['hash', 'minilm'] as const;
export type LocalModelName = (typeof names)[number];

const localModel = () => z.enum(names, 'must be hash or minilm');

/** The variables of the models that embed without a remote one. The API and the worker read them too, for the time of their jobs. */
export const localModelVariables = {
  LOCAL_EMBED_MODEL: localModel().default('hash'),
  LOCAL_PREVIOUS_EMBED_MODEL: localModel().optional(),
};

type LocalModels = z.output<z.ZodObject<typeof localModelVariables>>;

/** Whether the sentence model embeds here, as the model of the deployment or as the one before. */
export function usesMinilm(e: LocalModels): boolean {
  return e.LOCAL_EMBED_MODEL === 'minilm' || e.LOCAL_PREVIOUS_EMBED_MODEL === 'minilm';
}
