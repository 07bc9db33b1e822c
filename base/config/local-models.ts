import { z } from 'zod';

const names = ['hash', 'e5'] as const;
/** The weights of the sentence model, in a directory of models. */
export const e5File = 'e5-small-q4.bin';
export type LocalModelName = (typeof names)[number];

function localModel() {
  return z.enum(names, 'must be hash or e5, or both, separated by a comma');
}

/** The variables of the models that embed without a remote one. The API and the worker read them too, for the time of their jobs. */
export const localModelVariables = {
  /** The first embeds what is new, those that follow what they have indexed. */
  LOCAL_EMBED_MODEL: z
    .string()
    .default('hash')
    .transform((text) => text.split(',').map((name) => name.trim()))
    .pipe(z.tuple([localModel()], localModel())),
};

type LocalModels = z.output<z.ZodObject<typeof localModelVariables>>;

/** Whether the sentence model embeds here, as the model of the deployment or as the one before. */
export function usesE5({ LOCAL_EMBED_MODEL: models }: LocalModels): boolean {
  return models.includes('e5');
}
